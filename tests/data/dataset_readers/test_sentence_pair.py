import json
import logging
from collections import Counter

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.data.dataset_readers import WorkerInfo
from allennlp.data.token_indexers import (
    PretrainedTransformerIndexer,
    PretrainedTransformerMismatchedIndexer,
)
from allennlp.data.tokenizers import PretrainedTransformerTokenizer, WhitespaceTokenizer
from transformers import AutoTokenizer

from allennlp_sentmatch.data.dataset_readers import SentencePairReader


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


class TestFormats:
    def test_snli(self, fixtures):
        instances = read("snli", fixtures / "data/snli.jsonl")
        assert len(instances) == 7  # of 8: one has no gold label
        assert pair(instances[1]) == (
            "A woman in a red coat waits for the bus.",
            "A woman is asleep at home.",
            "contradiction",
            "0.jpg#0r1c",
        )
        assert tokens(instances[4], "hypothesis") == ["The", "dogs", "are", "n't", "moving", "."]
        assert instances[6]["metadata"]["premise_tokens"][:3] == ["A", "cook", ","]

    def test_multinli(self, fixtures):
        instances = read("multinli", fixtures / "data/multinli.jsonl")
        assert len(instances) == 6
        assert pair(instances[3]) == (
            "The museum is open daily except Monday.",
            "You can visit the museum on Tuesday.",
            "entailment",
            "1003e",
        )

    def test_plain_keys_in_place_of_the_original_ones(self, write):
        path = write('{"premise": "a b", "hypothesis": "c", "label": "neutral", "idx": 0}\n')
        for format in ("snli", "multinli"):
            assert [pair(i) for i in read(format, path)] == [("a b", "c", "neutral", None)]

    def test_sick(self, fixtures):
        instances = read("sick", fixtures / "data/sick.txt")
        assert [label(instance) for instance in instances] == [
            *("entailment", "contradiction", "neutral"),
            *("entailment", "contradiction", "neutral"),
        ]
        assert pair(instances[1]) == (
            "A man is slicing a loaf of bread",
            "There is no man slicing bread",
            "contradiction",
            "2",
        )
        assert instances[1]["metadata"]["score"] == 3.7
        assert instances[1]["score"].tensor.item() == pytest.approx(3.7)

    def test_sick_before_annotation_has_no_label(self, write):
        path = write("pair_ID\tsentence_A\tsentence_B\n9\tA dog\tA cat\n")
        (instance,) = read("sick", path)
        assert pair(instance) == ("A dog", "A cat", None, "9")

    def test_msrp(self, fixtures):
        instances = read("msrp", fixtures / "data/msrp.txt")
        assert [label(instance) for instance in instances] == ["1", "0", "1", "0"]
        assert pair(instances[1]) == (
            "Shares rose 3 percent in early trading.",
            'The company makes 3" and 5" pipes.',
            "0",
            "7003-7004",
        )

    @pytest.mark.parametrize("name", ["quora_release.tsv", "quora_kaggle.csv"])
    def test_quora_with_a_header(self, fixtures, name):
        instances = read("quora", fixtures / "data" / name)
        assert [pair(instance)[2:] for instance in instances] == [
            ("1", "11"),
            ("0", "12"),
            ("1", "13"),
            ("0", "14"),
        ]
        assert pair(instances[1])[0] == 'What does "ad hoc" mean?'
        assert pair(instances[2])[0] == "Is tea better than coffee,\nor is it a matter of taste?"
        assert pair(instances[3])[1] == ""

    def test_quora_as_wang_et_al_split_it(self, fixtures):
        instances = read("quora", fixtures / "data/quora_wang.tsv", tokenizer=WhitespaceTokenizer())
        assert pair(instances[1]) == (
            'What does " ad hoc " mean ?',
            '" Telephone " : who coined the word ?',
            "0",
            "12",
        )
        assert tokens(instances[1], "premise") == ["What", "does", '"', "ad", "hoc", '"'] + [
            "mean",
            "?",
        ]
        assert len(instances) == 4

    @pytest.mark.parametrize("name", ["scitail.tsv", "scitail_dgem.tsv", "scitail_snli_format.txt"])
    def test_scitail_has_the_same_labels_in_every_form(self, fixtures, name):
        instances = read("scitail", fixtures / "data" / name)
        assert [pair(instance)[:3] for instance in instances[:2]] == [
            (
                "Ice floats because it is less dense than water.",
                "Ice floats on water.",
                "entailment",
            ),
            ("Copper conducts electricity.", "Copper is an insulator.", "neutral"),
        ]
        assert len(instances) == 4

    def test_sts_has_scores_and_no_labels(self, fixtures):
        instances = read("sts", fixtures / "data/sts.csv")
        assert pair(instances[2]) == (
            'Minister says "no" to new tax',
            'Five hurt in "freak" storm',
            None,
            "headlines-2015-0010",
        )
        assert instances[1]["metadata"]["score"] == 3.8
        batch = Batch(instances)
        batch.index_instances(Vocabulary.from_instances(instances))
        scores = batch.as_tensor_dict()["score"]
        assert scores.dtype == torch.float32
        assert scores.tolist() == pytest.approx([5.0, 3.8, 0.4, 1.25])

    def test_a_hyphen_is_a_label_in_a_table(self, write):
        path = write("sentence1\tsentence2\tlabel\na\tb\t+\na\tc\t-\n")
        assert [i["label"].label for i in read("table", path)] == ["+", "-"]

    def test_skipped_pairs_are_counted_in_the_log(self, fixtures, caplog):
        with caplog.at_level(logging.INFO):
            read("snli", fixtures / "data/snli.jsonl")
        assert "7 pairs, 0 of them unlabeled; 1 pairs without a gold label skipped" in caplog.text


class TestSeveralFiles:
    def test_a_list_of_files_is_read_as_one(self, fixtures):
        files = [str(fixtures / "data" / name) for name in ("snli.jsonl", "multinli.jsonl")]
        snli, multinli = (list(map(pair, read("snli", file))) for file in files)
        assert list(map(pair, read("snli", files))) == snli + multinli
        folds = {"path": files, "folds": {"number": 2, "keep": [1]}}
        assert list(map(pair, read("snli", folds))) == (snli + multinli)[1::2]

    def test_an_error_names_its_own_file(self, tmp_path, fixtures):
        (tmp_path / "bad.jsonl").write_text("{}\n")
        with pytest.raises(ConfigurationError, match=r"bad\.jsonl, line 1"):
            read("snli", [str(fixtures / "data" / "snli.jsonl"), str(tmp_path / "bad.jsonl")])


class TestAgainstAllennlpModels:
    def test_snli(self, fixtures):
        snli = pytest.importorskip("allennlp_models.pair_classification.dataset_readers.snli")
        path = fixtures / "data/snli.jsonl"
        expected = list(snli.SnliReader(tokenizer=WhitespaceTokenizer()).read(path))
        instances = read("snli", path, tokenizer=WhitespaceTokenizer())
        assert len(instances) == len(expected) > 0
        for ours, theirs in zip(instances, expected):
            for field in ("premise", "hypothesis"):
                assert tokens(ours, field) == tokens(theirs, field)
                # A model of AllenNLP's reads these.
                assert ours["metadata"][f"{field}_tokens"] == theirs["metadata"][f"{field}_tokens"]
            assert label(ours) == label(theirs)

    def test_quora(self, write):
        quora = pytest.importorskip(
            "allennlp_models.pair_classification.dataset_readers.quora_paraphrase"
        )
        path = write("1\tWhat is it ?\tWhat 's that ?\t5\n0\tIs it so ?\tWho knows ?\t6\n")
        expected = list(quora.QuoraParaphraseDatasetReader().read(path))
        instances = read("quora", path, tokenizer=WhitespaceTokenizer())
        assert len(instances) == len(expected) == 2
        for ours, theirs in zip(instances, expected):
            for field in ("premise", "hypothesis"):
                assert tokens(ours, field) == tokens(theirs, field)
            assert label(ours) == label(theirs)


class TestTable:
    @pytest.mark.parametrize("label_column", ["label", None])
    def test_a_column_of_scores(self, write, label_column):
        path = write("sentence1,sentence2,label,score\na,b,yes,0.5\nc,d,no,1\n")
        instances = read("table", path, label=label_column, score="score")
        assert [i["score"].tensor.item() for i in instances] == [0.5, 1.0]
        assert [i["metadata"]["score"] for i in instances] == [0.5, 1.0]
        assert [label(i) for i in instances] == (["yes", "no"] if label_column else [None, None])
        assert all("score" not in i.fields for i in read("table", path))

    def test_scores_by_position_and_in_json(self, write):
        positions = {"sentence1": 0, "sentence2": 1, "label": None, "score": 2}
        (instance,) = read("table", write("a\tb\t-3\n"), **positions)
        assert instance["score"].tensor.item() == -3.0
        path = write('{"sentence1": "a", "sentence2": "b", "gold": 7}\n')
        reader = DatasetReader.from_params(
            Params(
                {
                    "type": "sentence_pair",
                    "format": "table",
                    "label": None,
                    "score": "gold",
                    "score_range": [0, 10],
                }
            )
        )
        (instance,) = reader.read(path)
        assert instance["score"].tensor.item() == 7.0

    def test_a_score_outside_the_range_is_named(self, write):
        path = write("sentence1\tsentence2\tscore\na\tb\t1\nc\td\t11\n")
        settings = {"label": None, "score": "score"}
        with pytest.raises(
            ConfigurationError, match=r"data\.txt, line 3: .* between 0 and 10, not 11\.0"
        ):
            read("table", path, score_range=(0, 10), **settings)
        assert len(read("table", path, **settings)) == 2

    def test_all_rows_have_a_score_or_none(self, write):
        rows = ['"score": 1', '"score": null']
        content = "".join(f'{{"sentence1": "a", "sentence2": "b", {row}}}\n' for row in rows)
        with pytest.raises(ConfigurationError, match=r"line 2: no score, but line 1 has one"):
            read("table", write(content), label=None, score="score")

    @pytest.mark.parametrize("score_range", [[1], [2, 1], [0, float("inf")], [0, 1, 2]])
    def test_a_range_has_two_ends(self, score_range):
        with pytest.raises(ConfigurationError, match="expected the lowest and the highest score"):
            SentencePairReader("table", score="score", score_range=score_range)


class TestBadInput:
    @pytest.mark.parametrize(
        ("format", "content", "message"),
        [
            ("msrp", "Quality\t#1 String\t#2 String\n\ta\tb\n", "line 2: .*'Quality' is empty"),
            ("quora", "1\ta\tb\n", "line 1: 3 columns, expected 4"),
            ("scitail", "a\tb\n", "line 1: 2 columns, expected 3"),
            ("sts", "g\tf\t1\t2\tmuch\ta\tb\n", "line 1: .*'score' must be .* not 'much'"),
            ("sts", "g\tf\t1\t2\tnan\ta\tb\n", "line 1: .*'score' must be a finite number"),
            ("sts", "g\tf\t1\t2\t-inf\ta\tb\n", "line 1: .*'score' must be a finite number"),
            ("sts", "g\tf\t1\t2\t5.1\ta\tb\n", "line 1: .*'score' .* 0 and 5, not 5.1"),
            (
                "sick",
                "sentence_A\tsentence_B\trelatedness_score\na\tb\t1\na\tb\t0.9\n",
                "line 3: .*'relatedness_score' must be between 1 and 5, not 0.9",
            ),
        ],
    )
    def test_names_file_and_line(self, write, format, content, message):
        with pytest.raises(ConfigurationError, match=message) as error:
            read(format, write(content))
        assert "data.txt" in str(error.value)

    def test_only_pairs_without_a_gold_label(self, write):
        row = {"sentence1": "a", "sentence2": "b", "gold_label": "-"}
        path = write((json.dumps(row) + "\n") * 3)
        with pytest.raises(ConfigurationError, match="all 3 pairs have the label '-'"):
            read("snli", path)

    def test_text_to_instance_names_the_field(self):
        reader = SentencePairReader("snli")
        with pytest.raises(ConfigurationError, match="hypothesis must be a string, not 5"):
            reader.text_to_instance("a", 5)
        with pytest.raises(ConfigurationError, match="premise must be a string, not None"):
            reader.text_to_instance(None, "a")

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_a_sentence_without_tokens_is_one_unknown_word(self, text):
        reader = SentencePairReader("snli")
        instance = reader.text_to_instance(text, "known", "neutral")
        assert instance["metadata"]["premise"] == text
        vocabulary = Vocabulary.from_instances([instance_of(reader, "known", "known")])
        reader.apply_token_indexers(instance)
        instance.index_fields(vocabulary)
        ids = instance.as_tensor_dict()["premise"]["tokens"]["tokens"]
        assert ids.tolist() == [vocabulary.get_token_index("never seen")]


def instance_of(reader, premise, hypothesis):
    instance = reader.text_to_instance(premise, hypothesis, "neutral")
    reader.apply_token_indexers(instance)
    return instance


class TestSettings:
    def test_max_length_truncates_each_sentence(self, fixtures):
        path = fixtures / "data/snli.jsonl"
        whole = read("snli", path)
        short = read("snli", path, max_length=5)
        for field in ("premise", "hypothesis"):
            assert [tokens(i, field) for i in short] == [tokens(i, field)[:5] for i in whole]
            assert [i["metadata"][f"{field}_tokens"] for i in short] == [
                tokens(i, field)[:5] for i in whole
            ]
            assert [i["metadata"][field] for i in short] == [i["metadata"][field] for i in whole]

    def test_swapped_pairs_follow_their_originals(self, fixtures):
        path = fixtures / "data/msrp.txt"
        plain = [pair(i) for i in read("msrp", path)]
        swapped = [pair(i) for i in read("msrp", path, swap_pairs=True)]
        assert swapped[0::2] == plain
        assert swapped[1::2] == [(b, a, label, id) for a, b, label, id in plain]

    def test_workers_get_no_indexers_until_they_are_applied(self, fixtures):
        reader = SentencePairReader("multinli")
        reader._set_worker_info(WorkerInfo(num_workers=1, id=0))
        instance = next(iter(reader.read(fixtures / "data/multinli.jsonl")))
        with pytest.raises(ValueError, match="token_indexers have not been set"):
            instance["premise"].token_indexers  # noqa: B018
        reader.apply_token_indexers(instance)
        assert instance["premise"].token_indexers is instance["hypothesis"].token_indexers


NLI = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("format", "file", "labels"),
    [
        ("snli", "snli/snli_1.0_dev.jsonl.gz", dict(zip(NLI, (3329, 3235, 3278)))),
        ("snli", "snli/snli_1.0_test.jsonl.gz", dict(zip(NLI, (3368, 3219, 3237)))),
        ("snli", "snli/snli_1.0_train_first1024.jsonl.gz", dict(zip(NLI, (343, 338, 341)))),
        ("snli", "ling_in_loop/litl_train.jsonl.gz", dict(zip(NLI, (14995, 14995, 14993)))),
        ("multinli", "ling_in_loop/litl_val.jsonl.gz", dict(zip(NLI, (2560, 2443, 2368)))),
        ("snli", "ling_in_loop/litl_val.snli_keys.jsonl.gz", dict(zip(NLI, (2560, 2443, 2368)))),
        ("multinli", "multinli/mnli_dev_matched.jsonl.gz", dict(zip(NLI, (3479, 3123, 3213)))),
        ("sick", "sick/SICK_train.txt", dict(zip(NLI, (1299, 2536, 665)))),
        ("sick", "sick/SICK_trial.txt", dict(zip(NLI, (144, 282, 74)))),
        ("sick", "sick/SICK_test_annotated.txt", dict(zip(NLI, (1414, 2793, 720)))),
        ("msrp", "msrp/msr_paraphrase_train.txt", {"1": 2753, "0": 1323}),
        ("msrp", "msrp/msr_paraphrase_test.txt", {"1": 1147, "0": 578}),
        ("quora", "quora/quora_duplicates_only.csv.gz", {"1": 14926}),
        ("sts", "stsb/sts-train.csv", {None: 5749}),
        ("sts", "stsb/sts-dev.csv", {None: 1500}),
        ("sts", "stsb/sts-test.csv", {None: 1379}),
    ],
)
def test_every_row_of_the_published_data(shared_data, format, file, labels):
    reader = SentencePairReader(format, tokenizer=WhitespaceTokenizer())
    counts = Counter()
    for instance in reader.read(shared_data / file):
        counts[label(instance)] += 1
        assert instance["premise"].tokens
        assert instance["hypothesis"].tokens
    assert counts == labels


@pytest.mark.parametrize(("part", "mean"), [("train", 2.701), ("dev", 2.364), ("test", 2.608)])
def test_mean_scores_of_the_sts_benchmark(shared_data, part, mean):
    instances = read("sts", shared_data / f"stsb/sts-{part}.csv", tokenizer=WhitespaceTokenizer())
    scores = [instance["metadata"]["score"] for instance in instances]
    assert sum(scores) / len(scores) == pytest.approx(mean, abs=5e-4)


def transformer(folder, **settings):
    return {
        "tokenizer": PretrainedTransformerTokenizer(folder, **settings),
        "token_indexers": {"tokens": PretrainedTransformerIndexer(folder)},
    }


class TestCombinedFields:
    def test_both_sentences_are_one_field(self, fixtures, tiny_bert):
        path = fixtures / "data/sick.txt"
        (first, *_) = read("sick", path, combine_input_fields=True, **transformer(tiny_bert))
        assert set(first.fields) == {"tokens", "label", "score", "metadata"}
        metadata = first["metadata"].metadata
        assert metadata["tokens"] == tokens(first, "tokens")
        assert metadata["tokens"][0] == "[CLS]"
        assert metadata["premise"] == "A man is slicing a loaf of bread"
        for name in ("premise", "hypothesis"):
            start, end = metadata[f"{name}_span"]
            assert metadata["tokens"][start:end] == metadata[f"{name}_tokens"]
            assert metadata["tokens"][end] == "[SEP]"

    def test_indexed_with_type_ids(self, tiny_bert):
        reader = SentencePairReader("snli", combine_input_fields=True, **transformer(tiny_bert))
        instance = reader.text_to_instance("a man sleeps", "the dog")
        reader.apply_token_indexers(instance)
        instance.index_fields(Vocabulary.empty())
        arrays = instance.as_tensor_dict()["tokens"]["tokens"]
        expected = AutoTokenizer.from_pretrained(tiny_bert)("a man sleeps", "the dog")
        assert arrays["token_ids"].tolist() == expected["input_ids"]
        assert arrays["type_ids"].tolist() == expected["token_type_ids"]

    def test_the_length_is_that_of_the_pair(self, tiny_bert):
        settings = {"combine_input_fields": True, "max_length": 9, **transformer(tiny_bert)}
        reader = SentencePairReader("snli", **settings)
        assert len(reader.text_to_instance("a " * 20, "the dog")["tokens"].tokens) == 9

    def test_the_words_of_a_mismatched_indexer_are_refused(self, tiny_bert):
        indexers = {"tokens": PretrainedTransformerMismatchedIndexer(tiny_bert)}
        settings = {**transformer(tiny_bert), "token_indexers": indexers}
        with pytest.raises(ConfigurationError, match=r"indexer pretrained_trans.* 'tokens'"):
            SentencePairReader("snli", combine_input_fields=True, **settings)

    def test_texts_are_checked(self, tiny_bert):
        reader = SentencePairReader("snli", combine_input_fields=True, **transformer(tiny_bert))
        with pytest.raises(ConfigurationError, match="hypothesis must be a string, not 5"):
            reader.text_to_instance("a", 5)
