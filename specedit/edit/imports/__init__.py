"""Completes the imports of an edited file: adds what is missing, removes what became unused."""
