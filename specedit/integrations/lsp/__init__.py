"""The language server: rename, edits of a selection and undo for every editor that speaks LSP."""
