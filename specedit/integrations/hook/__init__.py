"""The pre-commit hook: rules, what was seen clean, looking at staged files, being installed."""
