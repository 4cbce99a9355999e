"""The pre-commit hook: its rules, the run over staged files, and its installation in git."""
