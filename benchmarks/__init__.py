"""Experiments and comparisons: plain scripts, not in the wheel. README.md says how to run them."""
