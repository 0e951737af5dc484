"""A small random BERT, so that no test downloads a pretrained transformer."""

import string
from pathlib import Path

import torch

WORD_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "man", "sleep", "##s", "##ing"]
WORD_PIECES += ["is", "un", "##happi", "##ly", "dog", "."]
WORD_PIECES += [
    piece
    for letter in string.ascii_lowercase + string.digits
    for piece in (letter, f"##{letter}")
    if piece not in WORD_PIECES
]
"""A word in lower case is split into the longest pieces; at worst, each letter is one."""

HIDDEN_SIZE = 8


def save_tiny_bert(folder: Path) -> None:
    """Save a random BERT and its tokenizer as `transformers` reads them."""
    import transformers

    (folder / "vocab.txt").write_text("\n".join(WORD_PIECES) + "\n")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(WORD_PIECES),
        hidden_size=HIDDEN_SIZE,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=8,
        initializer_range=1.0,  # large enough for different words to have different vectors
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
