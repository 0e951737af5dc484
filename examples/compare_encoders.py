# %% [markdown]
# # Train a CAS-LSTM on your own pairs, and compare encoders
#
# Three recurrent encoders learn from the same 1,170 pairs of sentences ([train.tsv][1], written for
# this package) with AllenNLP: which one is most often right on the 300 test pairs? Replace the
# three paths below by your own files, which have a pair and its label on each line.
#
# Run it from a clone of the repository, with AllenNLP (`python -m allennlp_sentmatch
# install-allennlp`): `python examples/compare_encoders.py`. It takes half a minute on one core.
#
# [1]: ../fixtures/quick_start/train.tsv

# %%
import json
import logging
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.logging import AllenNlpLogger  # noqa: F401  (sets AllenNLP's loggers up)
from allennlp.common.util import prepare_environment

import allennlp_sentmatch  # noqa: F401  (registers the encoders)

logging.getLogger("allennlp").setLevel(logging.WARNING)
DATA = Path(__file__).parents[1] / "fixtures" / "quick_start"

# %% [markdown]
# ## One configuration, three encoders
#
# The words have the states of the sentence encoder in the package, which stays as it is here, so
# that an epoch takes seconds; `"trainable": True` trains it as well. A siamese classifier encodes
# both sentences alike, and its matcher compares them.

# %%
SIZE = {"input_size": 512, "hidden_size": 64, "bidirectional": True}
ENCODERS = {
    "BiLSTM": {"type": "lstm", **SIZE},
    "Bi-CAS-LSTM, 2 layers": {"type": "cas_lstm", "num_layers": 2, **SIZE},
    "SuBiLSTM": {"type": "subilstm", "input_size": 512, "hidden_size": 64},
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
# on chance: with differences as small as theirs, the encoders are alike.

# %%
accuracies = {name: [] for name in ENCODERS}
curves = {}
for name, encoder in ENCODERS.items():
    for seed in (1, 2):
        params = Params(configuration(encoder, seed))
        prepare_environment(params)
        with TemporaryDirectory() as folder:
            train_model(params, f"{folder}/run")
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
for row, (name, values) in enumerate(accuracies.items()):
    tested.plot([100 * value for value in values], [row] * len(values), "o", markersize=9)
tested.set_yticks(range(len(accuracies)), list(accuracies))
tested.set(xlabel="test accuracy, % (each seed)", ylim=(-0.5, len(accuracies) - 0.5))
tested.invert_yaxis()
figure.savefig("compare_encoders.png", dpi=120)
