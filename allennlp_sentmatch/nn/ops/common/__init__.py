"""Code shared by the recurrences."""
