"""Real commits in which one change occurs several times: the first is the example."""
