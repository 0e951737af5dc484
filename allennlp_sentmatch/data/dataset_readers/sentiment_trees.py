"""The Stanford Sentiment Treebank."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Optional, Union

from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.instance import Instance
from allennlp.data.tokenizers import Token, Tokenizer
from nltk.tree import Tree

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import TokenizingReader
from allennlp_sentmatch.data.instances import sentence_instance
from allennlp_sentmatch.data.text import check_text, unescape
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.lines import text_rows
from allennlp_sentmatch.files.messages import printable, shorten
from allennlp_sentmatch.files.row import Row, Source
from allennlp_sentmatch.nn.checks import check_choice, check_positive

LABELS: dict[str, dict[str, str]] = {
    "5-class": {"0": "0", "1": "1", "2": "2", "3": "3", "4": "4"},
    "3-class": {"0": "0", "1": "0", "2": "1", "3": "2", "4": "2"},
    "2-class": {"0": "0", "1": "0", "3": "1", "4": "1"},
}
"""The instance's label for each node label, from 0 (very negative) to 4 (very positive)."""

NEUTRAL = "2"

_LEAF = re.compile(r" ([^\s()]+)\)")


@DatasetReader.register("sentiment_trees")
class SentimentTreesReader(TokenizingReader):
    """Reads sentences, or all phrases, of the Stanford Sentiment Treebank (Socher et al. 2013).

    A file has one tree a line, every node with a label: `(3 (2 It) (4 (3 works) (2 .)))`. The
    treebank's escapes are undone: `-LRB-` is read as `(`. With the same settings, the instances are
    otherwise the same as from allennlp-models' reader `sst_tokens`.

    With all phrases of `train.txt` there are 318,582 instances of 5 classes and 98,794 of 2, the
    published counts: a phrase that occurs in several trees is an instance each time (159,274 and
    77,616 are distinct). With `min_phrase_length=4` there are 56,405 of 2 classes, the training
    set of the CoVe and SuBiLSTM papers (56.4k), and 93,706 of 5 (theirs: 94.2k). With all phrases
    and `use_neutral_sentences=False` there are 84,440 of 2 classes (67,349 are distinct):
    the training set of SentEval and GLUE.

    Fields: `tokens` (`TextField`), `label` (`LabelField`), and `metadata` with `text` (the tokens,
    joined by spaces) and `tokens` (a list of strings).

    # Parameters

    granularity : `str`, optional (default = `"5-class"`)
        `"5-class"`: the treebank's labels, 0 to 4. `"3-class"`: 0 negative (0 and 1), 1 neutral
        (2), 2 positive (3 and 4). `"2-class"`: 0 negative, 1 positive; neutral sentences and
        phrases are left out.
    use_subtrees : `bool`, optional (default = `False`)
        Whether every labeled phrase is an instance, or only the sentences.
    min_phrase_length : `int`, optional (default = `1`)
        Phrases of fewer tokens are left out; sentences never are.
    tokenizer : `Tokenizer`, optional (default = `None`)
        Splits the tokens of a tree, joined by spaces, again. By default they are kept, and only the
        plain strings that a predictor hands in are split, by `SpacyBlankTokenizer()`.
    use_neutral_sentences : `bool`, optional (default = `True`)
        Whether neutral sentences and their phrases are read.
    max_length, token_indexers : as in `TokenizingReader`
    """

    @inherits_settings(TokenizingReader)
    def __init__(
        self,
        granularity: str = "5-class",
        use_subtrees: bool = False,
        min_phrase_length: int = 1,
        tokenizer: Optional[Tokenizer] = None,
        use_neutral_sentences: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(tokenizer=tokenizer, **settings)
        check_choice(*LABELS, granularity=granularity)
        check_positive(min_phrase_length=min_phrase_length)
        self._labels = LABELS[granularity]
        self._use_subtrees = use_subtrees
        self._min_phrase_length = min_phrase_length
        self._use_neutral_sentences = use_neutral_sentences
        self._keep_tokens = tokenizer is None

    def _read(self, file_path: Any) -> Iterator[Instance]:
        phrases = chain.from_iterable(map(self._phrases, self.examples(file_path)))
        for tokens, label, source in self.shard_iterable(phrases):
            yield self.text_to_instance(tokens, label, source)

    def _parts(self, path: Any) -> Iterable[Iterable[Row]]:
        return [text_rows(path)]

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the words at the leaves of a tree."""
        return (" ".join(_LEAF.findall(example.text(["text"]))),)

    def _folds_by(self) -> str:
        return "line"  # the format is published, so one expression suffices

    def _phrases(self, row: Row) -> Iterator[tuple[list[Token], str, Source]]:
        """Yield the tokens and labels of a sentence and its phrases, if they are to be read."""
        tree = _tree(row)
        if tree.label() == NEUTRAL and not self._use_neutral_sentences:
            return
        phrases = tree.subtrees() if self._use_subtrees else [tree]
        for phrase in phrases:
            label = phrase.label()
            if label not in LABELS["5-class"]:
                raise row.error(f"a node has the label {shorten(label)}; expected 0, 1, 2, 3 or 4")
            tokens = phrase.leaves()
            long_enough = phrase is tree or len(tokens) >= self._min_phrase_length
            if long_enough and label in self._labels:
                yield tokens, self._labels[label], row.source

    def text_to_instance(
        self,
        tokens: Union[str, Sequence[Union[str, Token]]],
        label: Optional[str] = None,
        source: Optional[Source] = None,
    ) -> Instance:
        """Make the instance of one sentence or its tokens, with the fields listed above.

        The `label` is one of the reader's granularity; errors name the sentence's `source`. Raise
        `ConfigurationError` for a text or a token that is not a string.
        """
        if isinstance(tokens, str) or not isinstance(tokens, Sequence):
            return sentence_instance(tokens, self._text_field(tokens, "tokens"), label, source)
        own = [token if isinstance(token, Token) else _token(token) for token in tokens]
        text = " ".join(token.ensure_text() for token in own)
        if self._keep_tokens and own:
            field = self._field_of_tokens(own)
        else:
            field = self._text_field(text, "tokens")
        return sentence_instance(text, field, label, source)


def _tree(row: Row) -> Tree:
    """Return the tree on a line. Raise `ValueError` for what is not one."""
    try:
        # A sentence's phrases share its Token objects.
        tree = Tree.fromstring(row.text(["text"]), read_leaf=_token)
        tree.height()
    except ValueError as error:
        reason = printable(" ".join(str(error).split()))[:200]
        raise row.error(f"expected a labeled tree ({reason})") from None
    except RecursionError:
        raise row.error("the tree is nested too deeply") from None
    return tree


def _token(word: str) -> Token:
    if not isinstance(word, str):
        raise ConfigurationError(f"tokens must be strings, not {shorten(word)}")
    return Token(unescape(check_text(word, "a token")))
