"""The scores of additive attention among the tokens of a sentence."""
