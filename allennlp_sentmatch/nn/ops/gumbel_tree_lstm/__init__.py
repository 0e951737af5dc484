"""The composition of the Gumbel Tree-LSTM."""
