"""Files and databases that survive a crash; reached through `store.py` modules alone."""
