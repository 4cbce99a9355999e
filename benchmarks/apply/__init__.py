"""Changes to real files in the forms that models and people write, and how well they are merged."""
