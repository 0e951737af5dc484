"""The recurrences that the encoders of `allennlp_sentmatch.nn` are made of.

Each has a room: `lstm` (also CAS-LSTM's), `lstmn`, `suffix`, `tree` and `controlled`. What rooms
share is in `common`, and the C++ in `native`. `backends` decides which implementation runs.
"""
