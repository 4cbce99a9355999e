"""Repeats a change: an example becomes a rule, and the rule finds and rewrites other places."""
