"""Where a model's bytes come from: the hub, a package index, and fetching from one or the other."""
