"""Runs a Plan with a model in this process: loads the model, prompts, decodes."""
