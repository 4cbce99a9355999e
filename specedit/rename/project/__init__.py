"""A rename as one change of a whole work tree: what a name means in all of its files together."""
