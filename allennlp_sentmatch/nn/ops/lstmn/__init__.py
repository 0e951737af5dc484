"""The recurrence of the LSTMN."""
