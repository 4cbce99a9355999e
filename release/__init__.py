"""Wheels of every platform, and installations of them; not part of the package."""
