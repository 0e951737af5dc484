"""Train a tiny archive on this stack and record its predictions, for the other stack to repeat.

    .venv/bin/python scripts/make_stack_fixture.py fixtures/stacks/today
    .venv-classic/bin/python scripts/make_stack_fixture.py fixtures/stacks/classic

tests/test_stacks.py compares what the running stack predicts with what both recorded.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from allennlp.commands.train import train_model_from_file
from allennlp.predictors import Predictor

import allennlp_sentmatch  # noqa: F401  (registers the components)

PAIRS = [
    ("A small kitten is carrying a red rose.", "A cat is moving a flower."),
    ("A small kitten is carrying a red rose.", "A dog is guarding a book in the attic, or so."),
    ("Xyzzy.", ""),
]
OVERRIDES = {
    "train_data_path": "fixtures/quick_start/validation.tsv",
    "validation_data_path": "fixtures/quick_start/test.tsv",
    "dataset_reader.token_indexers": None,
    "model.text_field_embedder": {
        "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 8}}
    },
    "model.encoder": {
        "type": "pooled",
        "encoder": {"type": "cas_lstm", "input_size": 8, "hidden_size": 6, "bidirectional": True},
        "pooling": "max",
    },
    "model.classifier.hidden_size": 8,
    "trainer.num_epochs": 2,
}


def main() -> None:
    """Write model.tar.gz and predictions.json into the folder of the command line."""
    parser = argparse.ArgumentParser(description="Train a tiny archive and record predictions.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as parent:
        out = Path(parent) / "out"
        train_model_from_file("training_config/quick_start.jsonnet", out, json.dumps(OVERRIDES))
        shutil.copy(out / "model.tar.gz", folder)
    predictor = Predictor.from_path(folder / "model.tar.gz")
    pairs = [{"premise": premise, "hypothesis": hypothesis} for premise, hypothesis in PAIRS]
    predictions = [
        {**pair, "label_probs": predictor.predict_json(pair)["label_probs"]} for pair in pairs
    ]
    text = json.dumps(predictions, indent=2) + "\n"
    (folder / "predictions.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
