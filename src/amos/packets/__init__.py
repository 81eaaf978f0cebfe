"""Packets: fit ranked memory into a budget, with citations."""
