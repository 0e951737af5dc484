# %% [markdown]
# # Train a CAS-LSTM on your own pairs, and compare encoders
#
# Two recurrent encoders learn from the same 1,170 pairs of sentences ([train.tsv][1], written for
# this package) with AllenNLP: which one is more often right on the 300 test pairs? Replace the
# three paths below by your own files, which have a pair and its label on each line.
#
# Run it from a clone of the repository, with AllenNLP (`python -m allennlp_sentmatch
# install-allennlp`): `python examples/compare_encoders.py`. It takes one to two minutes on a core.
#
# [1]: ../fixtures/quick_start/train.tsv

# %%
import io
import json
import logging
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from allennlp.commands.train import train_model
from allennlp.common import Params

import allennlp_sentmatch  # noqa: F401  (registers the encoders)

logging.disable(logging.WARNING)
DATA = Path(__file__).parents[1] / "fixtures" / "quick_start"

# %% [markdown]
# ## One configuration, two encoders
#
# The words have the states of the sentence encoder in the package, which stays as it is here, so
# that an epoch takes seconds; `"trainable": True` trains it as well. A siamese classifier encodes
# both sentences alike, and its matcher compares them.

# %%
SIZE = {"input_size": 512, "hidden_size": 64, "bidirectional": True}
ENCODERS = {
    "BiLSTM": {"type": "lstm", **SIZE},
    "Bi-CAS-LSTM, 2 layers": {"type": "cas_lstm", "num_layers": 2, **SIZE},
}


def configuration(encoder, seed):
    """Return the configuration of an experiment, as `allennlp train` reads it from a file."""
    return {
        "random_seed": seed,
        "numpy_seed": seed,
        "pytorch_seed": seed,
        "dataset_reader": {
            "type": "sentence_pair",
            "format": "table",
            "sentence1": "sentence1",
            "sentence2": "sentence2",
            "label": "label",
            "tokenizer": "spacy_blank",
            "token_indexers": {"tokens": {"type": "exported_encoder"}},
        },
        "train_data_path": str(DATA / "train.tsv"),
        "validation_data_path": str(DATA / "validation.tsv"),
        "test_data_path": str(DATA / "test.tsv"),
        "evaluate_on_test": True,
        "model": {
            "type": "siamese_classifier",
            "text_field_embedder": {
                "token_embedders": {"tokens": {"type": "exported_encoder", "trainable": False}}
            },
            "encoder": {"type": "pooled", "encoder": encoder, "pooling": "max"},
            "matcher": "heuristic",
            "classifier": {"hidden_size": 128, "dropout": 0.3},
        },
        "data_loader": {"batch_size": 32, "shuffle": True},
        "trainer": {
            "num_epochs": 4,
            "validation_metric": "+accuracy",
            "optimizer": {"type": "adam", "lr": 0.001},
        },
    }


# %% [markdown]
# ## Train
#
# The epoch that is best on the validation pairs is tested. Two seeds show how much a figure depends
# on chance: encoders that differ less than their seeds are alike.

# %%
accuracies = {name: [] for name in ENCODERS}
curves = {}
for name, encoder in ENCODERS.items():
    for seed in (1, 2):
        with TemporaryDirectory() as folder:
            with redirect_stderr(io.StringIO()):  # AllenNLP's progress bars
                train_model(Params(configuration(encoder, seed)), f"{folder}/run")
            metrics = json.loads(Path(folder, "run", "metrics.json").read_text())
            epochs = sorted(Path(folder, "run").glob("metrics_epoch_*.json"))
            curves[name] = [json.loads(x.read_text())["validation_accuracy"] for x in epochs]
        accuracies[name].append(metrics["test_accuracy"])
    print(name, *(f"{100 * accuracy:.1f} %" for accuracy in accuracies[name]))

# %%
figure, (learning, tested) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for name, values in curves.items():
    learning.plot(range(1, len(values) + 1), [100 * value for value in values], "o-", label=name)
learning.set(xlabel="epoch", ylabel="validation accuracy, % (last seed)", xticks=range(1, 5))
learning.legend()
for row, values in enumerate(accuracies.values()):
    tested.plot([100 * value for value in values], [row] * len(values), "o", markersize=9)
tested.set_yticks(range(len(accuracies)), list(accuracies))
tested.set(xlabel="test accuracy, % (each seed)", xlim=(50, 75), ylim=(-0.5, len(accuracies) - 0.5))
tested.invert_yaxis()
figure.savefig("compare_encoders.png", dpi=120)
