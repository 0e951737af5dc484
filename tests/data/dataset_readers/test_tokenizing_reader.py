from collections import Counter

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader, SentencePairReader


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize(
    ("reader", "file", "id_count"),
    [
        (SentencePairReader("multinli"), "multinli.jsonl", 6),
        (AnswerSelectionReader("wikiqa"), "wikiqa.tsv", 3),
    ],
)
def test_batches_from_worker_processes(fixtures, reader, file, id_count, num_workers):
    loader = MultiProcessDataLoader(
        reader, fixtures / "data" / file, batch_size=2, num_workers=num_workers
    )
    loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
    batches = list(loader)
    ids = Counter(metadata["id"] for batch in batches for metadata in batch["metadata"])
    assert len(ids) == id_count
    assert set(ids.values()) == {1}
    for batch in batches:
        for field in batch.values():
            if isinstance(field, dict):
                tokens = field["tokens"]["tokens"]
                assert tokens.dtype == torch.int64
                assert tokens.any()
