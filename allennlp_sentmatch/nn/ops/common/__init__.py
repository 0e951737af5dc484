"""What the rooms share."""
