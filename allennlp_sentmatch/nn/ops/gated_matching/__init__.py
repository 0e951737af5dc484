"""The gated attention-based recurrence of R-NET."""
