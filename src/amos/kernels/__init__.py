"""Kernels: loops over arrays, plain or compiled."""
