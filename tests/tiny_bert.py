"""A small random BERT, so that no test downloads a pretrained transformer."""

from pathlib import Path

import torch

VOCABULARY = Path(__file__).parents[1] / "fixtures/training_config/transformer/vocab.txt"
"""Some words, parts of words and, for all others, the letters."""

HIDDEN_SIZE = 8


def save_tiny_bert(folder: Path) -> None:
    """Save a random BERT and its tokenizer as `transformers` reads them."""
    import transformers

    tokenizer = transformers.BertTokenizerFast(str(VOCABULARY))
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN_SIZE,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=8,
        initializer_range=1.0,  # large enough for different words to have different vectors
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
