"""The recurrence of SuBiLSTM."""
