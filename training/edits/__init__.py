"""Train an adapter on edits: from commits to a folder that `--adapter` takes (README.md)."""
