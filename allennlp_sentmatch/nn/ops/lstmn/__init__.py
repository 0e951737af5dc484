"""LSTMN."""
