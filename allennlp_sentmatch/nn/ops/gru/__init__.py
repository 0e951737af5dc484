"""GRUs over packed sentences."""
