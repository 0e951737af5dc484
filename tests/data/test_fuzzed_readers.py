"""Broken files are read, or refused by an error that names the file."""

import gzip
import json

from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary
from hypothesis import strategies as st

from allennlp_sentmatch.data.dataset_readers import (
    AnswerSelectionReader,
    ParallelTextReader,
    ReadingComprehensionReader,
    SentencePairReader,
    SentimentTreesReader,
    SingleSentenceReader,
)
from tests.conftest import REPOSITORY
from tests.fuzzing import cases, changed_bytes, check_cases, check_refusal, texts, values

POSITIONS = {"sentence1": 0, "sentence2": 1, "label": 2}
IDS = {"question_id": "id", "candidate_id": "candidate_id"}

# Each with a file that is right.
READERS = [
    (SentencePairReader("snli"), "snli.jsonl"),
    (SentencePairReader("multinli"), "multinli.jsonl"),
    (SentencePairReader("sick"), "sick.txt"),
    (SentencePairReader("quora"), "quora_release.tsv"),
    (SentencePairReader("quora"), "quora_kaggle.csv"),
    (SentencePairReader("quora", swap_pairs=True), "quora_wang.tsv"),
    (SentencePairReader("msrp"), "msrp.txt"),
    (SentencePairReader("scitail"), "scitail.tsv"),
    (SentencePairReader("scitail"), "scitail_snli_format.txt"),
    (SentencePairReader("sts"), "sts.csv"),
    (SentencePairReader("table", id="id"), "snli.jsonl"),
    (SentencePairReader("table", **POSITIONS), "scitail.tsv"),
    (SentencePairReader("table", delimiter=";", max_length=3), "quora_kaggle.csv"),
    (SentencePairReader("table", label=None, delimiter="||"), "snli.jsonl"),
    (SingleSentenceReader("trec"), "trec.label"),
    (SingleSentenceReader("label_first"), "reviews.task.train"),
    (SingleSentenceReader("two_files"), "polarity/snippets.pos"),
    (SingleSentenceReader("table", text="sentence1"), "snli.jsonl"),
    (SingleSentenceReader("table", text=0, label=None), "trec.label"),
    (SentimentTreesReader(), "sentiment_trees.txt"),
    (SentimentTreesReader("2-class", use_subtrees=True), "sentiment_trees.txt"),
    (AnswerSelectionReader("wikiqa"), "wikiqa.tsv"),
    (AnswerSelectionReader("trecqa"), "trecqa.csv"),
    (AnswerSelectionReader("table", **IDS), "wikiqa.tsv"),
    (ReadingComprehensionReader("squad"), "squad.json"),
    (ReadingComprehensionReader("fairytaleqa", max_passage_length=9), "fairytaleqa.jsonl"),
    (ReadingComprehensionReader("narrativeqa"), "narrativeqa/qaps.csv"),
    (ReadingComprehensionReader("table", passage="context", id="id"), "fairytaleqa.jsonl"),
    (
        ReadingComprehensionReader("table", passage="context", answers=None),
        "fairytaleqa.jsonl",
    ),
    (ParallelTextReader(), "parallel.de"),
    (ParallelTextReader(max_length=3), "scitail_dgem.tsv"),
]

KEYS = ["sentence1", "sentence2", "premise", "hypothesis", "gold_label", "label", "pairID", "id"]
KEYS += ["text", "question", "candidate", "candidate_id", "context", "answers"]

json_objects = st.dictionaries(st.sampled_from(KEYS), st.one_of(texts, values)).map(json.dumps)
lines = st.lists(st.one_of(json_objects, texts), max_size=5).map("\n".join)


@st.composite
def tables(draw):
    """A header and rows of mostly as many cells."""
    delimiter = draw(st.sampled_from(["\t", ",", ";", "||"]))
    header = draw(st.lists(st.sampled_from([*KEYS, ""]), max_size=5))
    cells = st.lists(texts, min_size=len(header), max_size=len(header))
    rows = draw(st.lists(st.one_of(cells, st.lists(texts)), max_size=4))
    return "\n".join(delimiter.join(row) for row in [header, *rows])


@st.composite
def broken_files(draw):
    """A reader, and the content of a file for it."""
    reader, file = draw(st.sampled_from(READERS))
    text = st.one_of(lines, tables())
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]))
    content = draw(
        st.one_of(
            changed_bytes((REPOSITORY / "fixtures" / "data" / file).read_bytes()),
            text.map(lambda text: text.encode(encoding, "surrogatepass")),
        )
    )
    if draw(st.integers(0, 9)) == 0:
        content = gzip.compress(content)
        content = content[: draw(st.integers(0, len(content)))]
    return reader, file, content


@cases(350, 8000)
def test_readers(tmp_path, num_cases):
    path = tmp_path / "broken.txt"

    def check(case):
        reader, file, content = case
        path.write_bytes(content)
        data_path = {
            "polarity/snippets.pos": {"pos": str(path)},
            "narrativeqa/qaps.csv": {
                "questions": str(path),
                "summaries": str(REPOSITORY / "fixtures/data/narrativeqa/summaries.csv"),
                "set": "train",
            },
        }.get(file, path)
        try:
            instances = list(reader.read(data_path))
        except ConfigurationError as error:
            check_refusal(error, str(path))
            return
        assert instances
        for instance in instances:
            reader.apply_token_indexers(instance)
        vocab = Vocabulary.from_instances(instances)
        for namespace in vocab.get_namespaces():
            for word in vocab.get_token_to_index_vocabulary(namespace):
                word.encode()
        batch = Batch(instances)
        batch.index_instances(vocab)
        tensors = batch.as_tensor_dict()
        json.dumps(tensors.get("metadata"), ensure_ascii=False).encode()

    check_cases(check, broken_files(), num_cases)
