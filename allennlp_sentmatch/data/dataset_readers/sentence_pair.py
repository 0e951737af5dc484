"""Pairs of sentences with a label, a score of their similarity, or both."""

import logging
import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import Field, TensorField, TextField
from allennlp.data.instance import Instance
from allennlp.data.token_indexers import PretrainedTransformerIndexer, TokenIndexer

from allennlp_sentmatch.data.dataset_readers.formats import PAIRS
from allennlp_sentmatch.data.dataset_readers.formatted_reader import FormattedReader
from allennlp_sentmatch.data.dataset_readers.pair_joiner import PairJoiner
from allennlp_sentmatch.data.fields import FixedSizeField, LabelField
from allennlp_sentmatch.data.instances import instance_of, words_of
from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.data.word_features import compared_words
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.row import AllOrNone, Column, Row, Source

logger = logging.getLogger(__name__)


@DatasetReader.register("sentence_pair")
class SentencePairReader(FormattedReader):
    """Reads pairs of sentences: natural language inference, paraphrases, similarity.

    The formats are

    - `snli`, `multinli`: JSON lines with the keys `sentence1`, `sentence2`, `gold_label` and
      `pairID`, or with `premise`, `hypothesis` and `label`. Labels `entailment`, `neutral`,
      `contradiction`.
    - `sick`: SemEval's files or the full release, tab-separated with a header. The same labels: the
      file's upper-case ones are lower-cased. Scores from 1 to 5, the relatedness. The full release
      is a single file, and the data path names a set in it: `{"path": "SICK.txt", "set": "TRAIN"}`,
      `TRIAL` or `TEST`.
    - `quora`: the release with its header (tsv, or csv as on Kaggle), or the partition of Wang et
      al. (2017), which has label, question, question and id, and no header. Labels `0`, `1`.
    - `msrp`: the release, tab-separated with a header. Labels `0`, `1`.
    - `scitail`: the release's `tsv_format`, `dgem_format` or `snli_format`. Labels `entailment`
      (also if the file has `entails`) and `neutral`.
    - `sts`: STS Benchmark, tab-separated without a header. Scores from 0 to 5, and no labels.
    - `table`: any tsv, csv or JSON lines; see the parameters.

    Labels are strings, even 0 and 1. In the formats `snli`, `multinli` and `scitail`, a pair with
    the label `-` (in the first two also -1) has no gold label and is skipped, and the log says how
    many were. A pair without a label (no such column, or a JSON null) is read without one, for
    prediction. A list of paths is read as one file (SNLI and MultiNLI together).

    An instance has the fields of AllenNLP's own readers of pairs:

    - `premise`, `hypothesis` (`TextField`)
    - `label` (`LabelField`), if the pair has one
    - `score` (`TensorField`, a float32 scalar), if the pair has one
    - `word_features` (`FixedSizeField`, float32, (16,)), with the setting of this name
    - `metadata` (`MetadataField`): `premise`, `hypothesis` (the texts), `premise_tokens`,
      `hypothesis_tokens` (lists of strings), and `id` and `score` if the data have them

    With `combine_input_fields`, for a cross-encoder, `tokens` is the field of both sentences
    together, `[CLS] premise [SEP] hypothesis [SEP]` in BERT, in place of `premise` and
    `hypothesis`. The metadata also has `tokens`, and as `premise_span` and `hypothesis_span` the
    positions in it of a sentence's first token and of the one after its last.

    # Parameters

    format : `str`
        One of the names above.
    sentence1, sentence2 : `Union[int, str]`, optional (default = `"sentence1"`, `"sentence2"`)
        `table`: the columns with the sentences.
    label : `Union[int, str]`, optional (default = `"label"`)
        `table`: the column with the label; `null` for a file without labels.
    id : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the pair's id, if there is one.
    swap_pairs : `bool`, optional (default = `False`)
        Whether each pair is followed by the same pair with premise and hypothesis exchanged: more
        training data if the label does not depend on the order. Archives, tests, and validation
        without a `validation_dataset_reader` read each pair once.
    score : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the score, if there is one. Set `label` to `null` for pairs without
        labels.
    score_range : `tuple[float, float]`, optional (default = `None`)
        `table`: the lowest and the highest score. A score that is not between them is an error. By
        default, any finite number is a score.
    combine_input_fields : `bool`, optional (default = `False`)
        Whether a pair is one text, as a cross-encoder reads it. Takes the tokenizer and the indexer
        "pretrained_transformer". `max_length` then limits the pair, special tokens included,
        and by default the length that the transformer can read: the longer sentence is cut first.
    word_features : `bool`, optional (default = `False`)
        Whether an instance has the features of its words by which `PairClassifier` compares the
        sentences: for English, the shares of words that both have, negations, numbers, lengths, and
        how well the words cover each other by their vectors in the encoder of this package. A
        `siamese_classifier` reads them with `num_word_features=16`.
    delimiter, quoted, encoding, max_length, tokenizer, token_indexers : as in `FormattedReader`
    """

    FORMATS = PAIRS
    SIDES = ("premise", "hypothesis")
    FOR_TRAINING = ("swap_pairs",)

    @inherits_settings(FormattedReader)
    def __init__(
        self,
        format: str,
        sentence1: Column = "sentence1",
        sentence2: Column = "sentence2",
        label: Optional[Column] = "label",
        id: Optional[Column] = None,
        swap_pairs: bool = False,
        score: Optional[Column] = None,
        score_range: Optional[tuple[float, float]] = None,
        combine_input_fields: bool = False,
        word_features: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(format, **settings)
        if score_range is not None:
            _check_range(score_range)
        columns = {
            "sentence1": sentence1,
            "sentence2": sentence2,
            "label": label,
            "id": id,
            "score": score,
        }
        self._choose_format(columns, score_range=score_range)
        self.swap_pairs = swap_pairs
        self._joiner = None
        if combine_input_fields:
            self._joiner = PairJoiner(self._tokenizer, self._max_length)
            _check_indexers(self._token_indexers)
        if word_features and combine_input_fields:
            raise ConfigurationError(
                "word_features are of two sentences that are encoded separately; set only one of "
                "word_features and combine_input_fields"
            )
        self._has_word_features = word_features

    def _read(self, file_path: Any) -> Iterator[Instance]:
        for example in self._shared(file_path):
            row, label, score = example
            premise, hypothesis = self.sentences(example)
            others = (label, score, row.joined(self._columns["id"]), row.source)
            yield self.text_to_instance(premise, hypothesis, *others)
            if self.swap_pairs:
                yield self.text_to_instance(hypothesis, premise, *others)

    def _parts(self, path: Any) -> Iterable[Iterable[Any]]:
        paths = path if isinstance(path, list) else [path]
        labels = AllOrNone("label")
        scores = AllOrNone("score")
        return [chain.from_iterable(self._pairs(one, labels, scores) for one in paths)]

    def sentences(self, example: Any) -> tuple[str, str]:
        """Return the premise and the hypothesis."""
        row = example[0]
        return row.text(self._columns["sentence1"]), row.text(self._columns["sentence2"])

    def _pairs(
        self, file_path: AnyPath, labels: AllOrNone, scores: AllOrNone
    ) -> Iterator[tuple[Row, Optional[str], Optional[float]]]:
        """Yield the rows to read, with labels and scores; `None` if a row has none."""
        num_pairs = 0
        num_unlabeled = 0
        form = self._format
        for row in form.rows(file_path, encoding=self._encoding):
            label = self._label(row)
            if label in form.no_gold_labels:
                self._left_out[f"with the label {label!r}, which marks a missing gold label"] += 1
                continue
            score = row.number(self._columns["score"], form.score_range)
            labels.check(row, label)
            scores.check(row, score)
            num_pairs += 1
            if label is None:
                num_unlabeled += 1
            else:
                label = form.rename_label(label)
            yield row, label, score
        logger.info(f"{file_path}: {num_pairs} pairs, {num_unlabeled} of them unlabeled")

    def text_to_instance(
        self,
        premise: str,
        hypothesis: str,
        label: Optional[str] = None,
        score: Optional[float] = None,
        id: Optional[str] = None,
        source: Optional[Source] = None,
    ) -> Instance:
        """Make the instance of one pair, with the fields listed above.

        The `id` comes from the data set; `source` is the pair's file and line, for errors. Raise
        `ConfigurationError` for a text that is not a string, or a score that is not finite.
        """
        texts = {"premise": premise, "hypothesis": hypothesis}
        metadata: dict[str, Any] = {**texts, "id": id, "score": score}
        fields: dict[str, Optional[Field[Any]]] = {}
        if self._joiner is None:
            for name, text in texts.items():
                field = self._text_field(text, name)
                fields[name] = field
                metadata[f"{name}_tokens"] = words_of(field)
        else:
            field = self._joined_field(self._joiner, texts, metadata)
            fields["tokens"] = field
        if label is not None:
            fields["label"] = LabelField(label, source=source)
        if score is not None:
            fields["score"] = _score_field(score)
        if self._has_word_features:
            features = compared_words([premise], [hypothesis])  # (1, 16)
            fields["word_features"] = FixedSizeField(features[0])
        return instance_of(fields, metadata)

    def _joined_field(
        self,
        joiner: PairJoiner,
        texts: dict[str, str],
        metadata: dict[str, Any],
    ) -> TextField:
        """Return the tokens of both texts together, and put the words of each into the metadata."""
        checked = {name: check_text(text, name) for name, text in texts.items()}
        pair = joiner.join(**checked)
        if pair.was_cut:
            longer = max(texts.values(), key=len)
            self._log_cut(longer, len(pair.tokens))
        field = TextField(pair.tokens)
        words = words_of(field)
        metadata["tokens"] = words
        for name, (start, end) in pair.spans.items():
            metadata[f"{name}_tokens"] = words[start:end]
            metadata[f"{name}_span"] = [start, end]
        return field


def _check_range(score_range: Any) -> None:
    ends = list(score_range)
    has_ends = len(ends) == 2 and all(map(math.isfinite, ends))
    if not has_ends or ends[0] >= ends[1]:
        raise ConfigurationError(
            f"score_range={list(score_range)}: expected the lowest and the highest score"
        )


def _check_indexers(token_indexers: dict[str, TokenIndexer]) -> None:
    for name, indexer in token_indexers.items():
        if not isinstance(indexer, PretrainedTransformerIndexer):
            raise ConfigurationError(
                "combine_input_fields needs the indexer pretrained_transformer, which takes word "
                f"pieces; {name!r} is a {type(indexer).__name__}"
            )


def _score_field(score: Any) -> TensorField:
    if not isinstance(score, (int, float)) or not math.isfinite(score):
        raise ConfigurationError(f"score must be a finite number, not {score!r}")
    return TensorField(torch.tensor(float(score)))
