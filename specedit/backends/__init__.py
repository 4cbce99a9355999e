"""Backends: what runs a Plan and yields its events: here, in a warm server, at an address."""
