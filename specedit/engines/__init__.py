"""The only home of torch and transformers. `base` has the seam and imports neither."""
