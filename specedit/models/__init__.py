"""Names, digests and sources of models; download, verify, tokenise, convert."""
