"""Every published format of pairs gives its rows; errors name the file and the line."""

import math
import re
from collections import Counter

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary
from allennlp.data.samplers import BucketBatchSampler
from allennlp.data.token_indexers import PretrainedTransformerIndexer, SingleIdTokenIndexer
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, WhitespaceTokenizer
from transformers import AutoTokenizer

from allennlp_sentmatch.data.dataset_readers import SentencePairReader

NLI = ("entailment", "neutral", "contradiction")


def read(format, path, **settings):
    return list(SentencePairReader(format, **settings).read(path))


def label(instance):
    return instance["label"].label if "label" in instance.fields else None


def pair(instance):
    """Texts, label and id of an instance."""
    metadata = instance["metadata"].metadata
    return metadata["premise"], metadata["hypothesis"], label(instance), metadata.get("id")


def tokens(instance, field):
    return [token.text for token in instance[field].tokens]


BUS = ("A woman in a red coat waits for the bus.", "A woman is asleep at home.")
MUSEUM = "The museum is open daily except Monday.", "You can visit the museum on Tuesday."
BREAD = "A man is slicing a loaf of bread", "There is no man slicing bread"
COMPANY = "Shares rose 3 percent in early trading.", 'The company makes 3" and 5" pipes.'
AD_HOC = 'What does "ad hoc" mean?', "Who invented the telephone?"
AD_HOC_TOKENS = 'What does " ad hoc " mean ?', '" Telephone " : who coined the word ?'
ICE = "Ice floats because it is less dense than water.", "Ice floats on water."
COPPER = "Copper conducts electricity.", "Copper is an insulator."
TAX = 'Minister says "no" to new tax', 'Five hurt in "freak" storm'


# Files with unread pairs have pairs without a gold label.
@pytest.mark.parametrize(
    ("format", "file", "number", "expected"),
    [
        ("snli", "snli.jsonl", 7, {1: (*BUS, "contradiction", "0.jpg#0r1c")}),
        ("multinli", "multinli.jsonl", 6, {3: (*MUSEUM, "entailment", "1003e")}),
        ("sick", "sick.txt", 6, {1: (*BREAD, "contradiction", "2")}),
        ("msrp", "msrp.txt", 4, {1: (*COMPANY, "0", "7003-7004")}),
        ("quora", "quora_release.tsv", 4, {1: (*AD_HOC, "0", "12")}),
        ("quora", "quora_kaggle.csv", 4, {1: (*AD_HOC, "0", "12")}),
        ("quora", "quora_wang.tsv", 4, {1: (*AD_HOC_TOKENS, "0", "12")}),
        *(
            ("scitail", f"scitail{form}", 4, {0: (*ICE, NLI[0], id), 1: (*COPPER, NLI[1], id)})
            for form, id in ((".tsv", None), ("_dgem.tsv", None), ("_snli_format.txt", None))
        ),
        ("sts", "sts.csv", 4, {2: (*TAX, None, "headlines-2015-0010")}),
    ],
)
def test_formats(fixtures, format, file, number, expected):
    instances = read(format, fixtures / "data" / file)
    assert len(instances) == number
    assert {i: pair(instances[i]) for i in expected} == expected


def test_a_quoted_question_has_line_ends_or_nothing(fixtures):
    for name in ("quora_release.tsv", "quora_kaggle.csv"):
        instances = read("quora", fixtures / "data" / name)
        assert pair(instances[2])[0] == "Is tea better than coffee,\nor is it a matter of taste?"
        assert pair(instances[3])[1] == ""


FULL_SICK = """\
pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set
1\ta\tb\tENTAILMENT\t4.5\tTRAIN
2\tc\td\tNEUTRAL\t3.6\tTRAIN
3\te\tf\tCONTRADICTION\t2\tTEST
"""


def test_the_full_release_of_sick_is_read_by_its_sets(write):
    path = str(write(FULL_SICK, "SICK.txt"))
    train, test = (read("sick", {"path": path, "set": name}) for name in ("TRAIN", "test"))
    assert [pair(one)[2] for one in train] == ["entailment", "neutral"]
    assert [(pair(one)[2], one["metadata"]["score"]) for one in test] == [("contradiction", 2.0)]
    folds = {"path": {"path": path, "set": "TRAIN"}, "folds": {"number": 2, "keep": [1]}}
    assert [pair(one)[0] for one in read("sick", folds)] == ["c"]
    with pytest.raises(ConfigurationError, match=r"line 4: the file has the sets TRAIN and TEST"):
        read("sick", path)
    with pytest.raises(ConfigurationError, match=r"no example of the set 'TRIAL'.*'TEST', 'TRAIN'"):
        read("sick", {"path": path, "set": "TRIAL"})
    assert len(read("sick", write("\n".join(FULL_SICK.splitlines()[:3])))) == 2  # a single set


def test_scores(fixtures, write):
    instances = read("sts", fixtures / "data/sts.csv")
    batch = Batch(instances)
    batch.index_instances(Vocabulary.from_instances(instances))
    scores = batch.as_tensor_dict()["score"]
    assert scores.dtype == torch.float32
    assert scores.tolist() == pytest.approx([5.0, 3.8, 0.4, 1.25])
    assert [i["metadata"]["score"] for i in instances] == [5.0, 3.8, 0.4, 1.25]
    sick = read("sick", fixtures / "data/sick.txt")[1]
    assert label(sick) == "contradiction"
    assert sick["metadata"]["score"] == 3.7
    path = write("sentence1,sentence2,label,score\na,b,yes,0.5\nc,d,no,1\n")
    for label_column, labels in (("label", ["yes", "no"]), (None, [None, None])):
        instances = read("table", path, label=label_column, score="score")
        assert [i["score"].tensor.item() for i in instances] == [0.5, 1.0]
        assert [label(i) for i in instances] == labels
    assert all("score" not in i.fields for i in read("table", path))


def test_a_list_of_files_is_read_as_one(fixtures, write):
    files = [str(fixtures / "data" / name) for name in ("snli.jsonl", "multinli.jsonl")]
    snli, multinli = (list(map(pair, read("snli", file))) for file in files)
    assert list(map(pair, read("snli", files))) == snli + multinli
    folds = {"path": files, "folds": {"number": 2, "keep": [1]}}
    assert list(map(pair, read("snli", folds))) == (snli + multinli)[1::2]
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 1"):
        read("snli", [files[0], str(write("{}\n"))])
    unlabeled = write('{"sentence1": "a", "sentence2": "b"}\n')
    message = rf"data\.txt, line 1: no label, but {re.escape(files[0])}, line 1 has one; give "
    with pytest.raises(ConfigurationError, match=message):
        read("snli", [files[0], str(unlabeled)])


QUORA = "1\tWhat is it ?\tWhat 's that ?\t5\n0\tIs it so ?\tWho knows ?\t6\n"


@pytest.mark.parametrize(
    ("reader", "format"),
    [
        ("SnliReader", "snli"),
        ("QuoraParaphraseDatasetReader", "quora"),
    ],
)
def test_the_instances_of_allennlp_models(fixtures, write, reader, format):
    readers = pytest.importorskip("allennlp_models.pair_classification.dataset_readers")
    path = fixtures / "data/snli.jsonl" if format == "snli" else write(QUORA)
    tokenizer = WhitespaceTokenizer()
    expected = list(getattr(readers, reader)(tokenizer=tokenizer).read(path))
    instances = read(format, path, tokenizer=tokenizer)
    assert len(instances) == len(expected) > 0
    for ours, theirs in zip(instances, expected):
        for field in ("premise", "hypothesis"):
            assert tokens(ours, field) == tokens(theirs, field)
            if "metadata" in theirs.fields:  # a model of AllenNLP's reads this field
                assert ours["metadata"][f"{field}_tokens"] == theirs["metadata"][f"{field}_tokens"]
        assert label(ours) == label(theirs)


SCORED = {"label": None, "score": "score"}


def test_both_sentences_in_one_field_need_word_pieces(tiny_bert):
    message = "combine_input_fields needs .*; 'tokens' is a SingleIdTokenIndexer"
    with pytest.raises(ConfigurationError, match=message):
        SentencePairReader(
            "sick",
            combine_input_fields=True,
            tokenizer=PretrainedTransformerTokenizer(tiny_bert),
            token_indexers={"tokens": SingleIdTokenIndexer()},
        )


@pytest.mark.parametrize(
    ("format", "content", "message", "settings"),
    [
        ("msrp", "Quality\t#1 String\t#2 String\n\ta\tb\n", "line 2: .*'Quality' is empty", {}),
        ("quora", "1\ta\tb\n", "line 1: 3 columns, expected 4", {}),
        ("scitail", "a\tb\n", "line 1: 2 columns, expected 3", {}),
        ("sts", "g\tf\t1\t2\t5.1\ta\tb\n", "line 1: .*'score' must be between 0 and 5, not", {}),
        (
            "sick",
            "sentence_A\tsentence_B\trelatedness_score\na\tb\t1\na\tb\t0.9\n",
            "line 3: .*'relatedness_score' must be between 1 and 5, not 0.9",
            {},
        ),
        (
            "table",
            "sentence1\tsentence2\tscore\na\tb\t1\nc\td\t11\n",
            r"line 3: .* between 0 and 10, not 11\.0",
            {**SCORED, "score_range": (0, 10)},
        ),
        (
            "table",
            "".join(f'{{"sentence1": "a", "sentence2": "b", "score": {x}}}\n' for x in (1, "null")),
            "line 2: no score, but line 1 has one",
            SCORED,
        ),
        (
            "snli",
            '{"sentence1": "a", "sentence2": "b", "gold_label": "-"}\n' * 3,
            "no example is read: left out 3 with the label '-'",
            {},
        ),
        (
            "multinli",  # as on the Hugging Face Hub
            '{"premise": "a", "hypothesis": "b", "label": -1}\n',
            "no example is read: left out 1 with the label '-1'",
            {},
        ),
    ],
)
def test_errors_name_file_and_line(write, format, content, message, settings):
    with pytest.raises(ConfigurationError, match=rf"data\.txt[,:] {message}"):
        read(format, write(content), **settings)


@pytest.mark.parametrize("score_range", [(5, 1), (1, 1), (0, 5, 9), (0, float("inf"))])
def test_a_range_has_two_ends(score_range):
    with pytest.raises(ConfigurationError, match="expected the lowest and the highest score"):
        SentencePairReader("table", **SCORED, score_range=score_range)


@pytest.mark.parametrize("score", ["1", float("nan")])
def test_a_score_is_a_finite_number(score):
    reader = SentencePairReader("sts")
    with pytest.raises(ConfigurationError, match=f"score must be a finite number, not {score!r}"):
        reader.text_to_instance("a", "b", score=score)


def test_swapped_pairs_follow_their_originals(fixtures):
    path = fixtures / "data/msrp.txt"
    plain = [pair(i) for i in read("msrp", path)]
    swapped = [pair(i) for i in read("msrp", path, swap_pairs=True)]
    assert swapped[0::2] == plain
    assert swapped[1::2] == [(b, a, label, id) for a, b, label, id in plain]


def test_features_of_words(write):
    """Shares of words and of neighbors, negations, differences, lengths, content words."""
    path = write("text_a\ttext_b\nA dog never runs.\tThe dog runs.\n", "pairs.tsv")
    (instance,) = read(
        "table", path, sentence1="text_a", sentence2="text_b", label=None, word_features=True
    )
    features = instance["word_features"].tensor
    assert features.shape == (16,)
    assert features.dtype == torch.float32
    lengths = [math.log(5), math.log(4)]
    expected = [2 / 4, 2 / 3, 0, 0, 1, 0, 1, 0, *lengths, 2 / 3, 1]
    assert features[:12].tolist() == pytest.approx(expected, abs=1e-6)
    assert (features[12:] > 0).all()  # the words cover each other


def test_buckets_do_not_sort_by_features_of_words(write):
    path = write("A dog runs.\tIt runs.\nNo.\tIt is a long sentence of ten words .\n", "pairs.tsv")
    instances = read("table", path, sentence1=0, sentence2=1, label=None, word_features=True)
    sampler = BucketBatchSampler(batch_size=1)
    sampler._guess_sorting_keys(instances)
    assert sampler.sorting_keys == ["hypothesis"]
    tensors = Batch(instances)
    tensors.index_instances(Vocabulary.from_instances(instances))
    batched = tensors.as_tensor_dict()["word_features"]
    expected = [instance["word_features"].tensor for instance in instances]
    torch.testing.assert_close(batched, torch.stack(expected))


def test_features_of_swapped_pairs_are_swapped(write):
    path = write("A dog never runs.\tThe dog runs.\n", "pairs.tsv")
    settings = {"sentence1": 0, "sentence2": 1, "label": None, "word_features": True}
    before, after = read("table", path, **settings, swap_pairs=True)
    first = before["word_features"].tensor
    second = after["word_features"].tensor
    order = [1, 0, 3, 2, 5, 4, 6, 7, 9, 8, 11, 10]
    torch.testing.assert_close(second[:12], first[order])


def test_features_of_words_are_of_two_texts(tiny_bert):
    with pytest.raises(ConfigurationError, match="set only one of word_features and"):
        SentencePairReader(
            "snli",
            combine_input_fields=True,
            word_features=True,
            tokenizer=PretrainedTransformerTokenizer(tiny_bert, add_special_tokens=False),
            token_indexers={"tokens": PretrainedTransformerIndexer(tiny_bert)},
        )


def slow(*case):
    """A case of thousands of lines; the fixtures have some of each format."""
    return pytest.param(*case, marks=pytest.mark.slow)


def nli(*counts):
    return dict(zip(NLI, counts))


@pytest.mark.parametrize(
    ("format", "file", "labels"),
    [
        ("snli", "snli/snli_1.0_train_first1024.jsonl.gz", nli(343, 338, 341)),
        slow("snli", "snli/snli_1.0_dev.jsonl.gz", nli(3329, 3235, 3278)),
        slow("snli", "ling_in_loop/litl_val.snli_keys.jsonl.gz", nli(2560, 2443, 2368)),
        slow("multinli", "multinli/mnli_dev_matched.jsonl.gz", nli(3479, 3123, 3213)),
        # The other parts of these three are in tests/transfer/test_tasks.py.
        ("sick", "sick/SICK_test_annotated.txt", nli(1414, 2793, 720)),
        ("msrp", "msrp/msr_paraphrase_test.txt", {"1": 1147, "0": 578}),
        slow("quora", "quora/quora_duplicates_only.csv.gz", {"1": 14926}),
        # The mean score is also the published one.
        ("sts", "stsb/sts-test.csv", {None: 1379, "mean": 2.608}),
    ],
)
def test_every_row_of_the_published_data(shared_data, format, file, labels):
    instances = read(format, shared_data / file, tokenizer=WhitespaceTokenizer())
    assert all(i["premise"].tokens and i["hypothesis"].tokens for i in instances)
    counts = dict(Counter(map(label, instances)))
    if "mean" in labels:
        scores = [instance["metadata"]["score"] for instance in instances]
        counts["mean"] = pytest.approx(sum(scores) / len(scores), abs=5e-4)
    assert counts == labels


def test_both_sentences_in_one_field(fixtures, tiny_bert):
    reader = SentencePairReader(
        "sick",
        combine_input_fields=True,
        tokenizer=PretrainedTransformerTokenizer(tiny_bert),
        token_indexers={"tokens": PretrainedTransformerIndexer(tiny_bert)},
        max_length=9,
    )
    (first, *_) = reader.read(fixtures / "data/sick.txt")
    assert set(first.fields) == {"tokens", "label", "score", "metadata"}
    metadata = first["metadata"].metadata
    assert metadata["tokens"] == tokens(first, "tokens")
    assert metadata["tokens"][0] == "[CLS]"
    for name in ("premise", "hypothesis"):
        start, end = metadata[f"{name}_span"]
        assert metadata["tokens"][start:end] == metadata[f"{name}_tokens"]
        assert metadata["tokens"][end] == "[SEP]"
    reader.apply_token_indexers(first)
    first.index_fields(Vocabulary(counter={"labels": {"entailment": 1}}))
    arrays = first.as_tensor_dict()["tokens"]["tokens"]
    expected = AutoTokenizer.from_pretrained(tiny_bert)(
        metadata["premise"], metadata["hypothesis"], truncation="longest_first", max_length=9
    )
    assert arrays["token_ids"].tolist() == expected["input_ids"]
    assert arrays["type_ids"].tolist() == expected["token_type_ids"]
