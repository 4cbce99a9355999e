"""Scripts that make what is shipped. They are not in the wheel; run them from a clone."""
