"""Time the training step of CS-LVM with a sampled label and with all labels (thesis, 6.4.3).

The model is the one of training_config/snli_semi/cs_lvm_28k.jsonnet, with the 20,000 words of the
thesis; the batches of 32 labeled and 32 unlabeled pairs are SNLI's. Times are the processor's, on
one thread, of a forward and a backward pass; the steps take turns, and the ratio is the median over
the batches.

    python -m benchmarks.label_expectation ../shared/data/snli/snli_1.0_dev.jsonl.gz
"""

import argparse
import copy
import itertools
import statistics
from functools import partial

import torch
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, TensorDict, Vocabulary
from allennlp.models import Model

from benchmarks.measure import median_ratio, processor_seconds

CONFIGURATION = "training_config/snli_semi/cs_lvm_28k.jsonnet"
NUM_WORDS = 20_000
EXPECTATIONS = ("enumeration", "sampling_without_score", "sampling")


def training_step(model: Model, batch: TensorDict) -> None:
    """Run a forward and a backward pass."""
    model.zero_grad(set_to_none=True)
    model(**batch)["loss"].backward()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("snli", help="labeled pairs of SNLI")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    params = Params.from_file(CONFIGURATION, {"data_loader.num_labeled": 1000}).as_dict()
    reader = DatasetReader.from_params(Params(params["dataset_reader"]))
    loader_params = Params(params["data_loader"])
    loader = DataLoader.from_params(loader_params, reader=reader, data_path=options.snli)
    symbols = params["vocabulary"]["tokens_to_add"]
    vocab = Vocabulary.from_instances(loader.iter_instances(), tokens_to_add=symbols)
    missing = NUM_WORDS - vocab.get_vocab_size()
    vocab.add_tokens_to_namespace([f"word {number}" for number in range(missing)])
    loader.index_with(vocab)
    models = {}
    for expectation in EXPECTATIONS:
        torch.manual_seed(0)
        settings = Params(copy.deepcopy({**params["model"], "label_expectation": expectation}))
        models[expectation] = Model.from_params(settings, vocab=vocab).train()
    times: dict[str, list[float]] = {expectation: [] for expectation in EXPECTATIONS}
    for round_, batch in enumerate(itertools.islice(loader, 1 + options.rounds)):
        for expectation, model in models.items():
            seconds = processor_seconds(partial(training_step, model, batch))
            if round_ > 0:  # the first one also allocates
                times[expectation].append(seconds)
    for expectation in EXPECTATIONS:
        ratio = median_ratio(times["enumeration"], times[expectation])
        median = 1000 * statistics.median(times[expectation])
        print(f"{expectation}: {median:.0f} ms, {ratio:.2f} times as fast as enumeration")


if __name__ == "__main__":
    main()
