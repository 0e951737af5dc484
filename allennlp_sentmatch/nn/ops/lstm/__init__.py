"""LSTM and CAS-LSTM."""
