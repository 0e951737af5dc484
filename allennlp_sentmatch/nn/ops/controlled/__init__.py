"""The recurrence of RCRN."""
