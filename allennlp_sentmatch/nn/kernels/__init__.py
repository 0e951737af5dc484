"""Fast implementations of recurrences that the encoders of `allennlp_sentmatch.nn` spell out."""
