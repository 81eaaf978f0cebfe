"""Recall: rank what a caller may see for a question."""
