"""Who and what is meant: relations, spoken references, and the choice among candidate referents."""
