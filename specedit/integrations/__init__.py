"""The interfaces besides the command line: the pre-commit hook, editors, vLLM."""
