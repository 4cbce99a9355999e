"""Interfaces besides the command line: pre-commit hook, editors, language server, MCP, vLLM."""
