"""Sentences and their translations."""

import re
from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import TextField
from allennlp.data.instance import Instance
from allennlp.data.token_indexers import SingleIdTokenIndexer, TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN

from allennlp_sentmatch.data.dataset_readers.configured_reader import ConfiguredReader
from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import without_padding_word
from allennlp_sentmatch.data.instances import instance_of
from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.data.tokenizers import BpeTokenizer, SpacyBlankTokenizer
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.lines import check_encoding, read_lines
from allennlp_sentmatch.files.row import Source

_Lines = Iterator[tuple[Source, str, str]]  # the place of each line, with its two sentences

_ALTERNATIVES = re.compile(r"\{([^{},]+),([^{},]+)\}")


@DatasetReader.register("parallel_text")
class ParallelTextReader(ConfiguredReader):
    """Reads sentences and their translations.

    A path is one of

    - two files, aligned line by line, which differ in one part of their names, the source's first:
      `train.{de,en}.gz` is `train.de.gz` and `train.en.gz`;
    - one file, in which a tab separates a sentence from its translation.

    Files may be gzip-compressed, URLs, or `archive!member`. A line that is blank in both files is
    skipped; one that is blank in a single file is an error, as it usually means that the files are
    not aligned. For other files, see `skip_incomplete`.

    Fields: `source_tokens` and `target_tokens` (`TextField`; the target between AllenNLP's start
    and end symbols), and `metadata` with `source`, `target`, `source_tokens` and `target_tokens`
    (lists of strings, without the symbols). The word `@@PADDING@@`, which AllenNLP's vocabulary
    takes for padding, becomes an out-of-vocabulary token.

    # Parameters

    source_tokenizer : `Tokenizer`, optional (default = `SpacyBlankTokenizer()`)
    target_tokenizer : `Tokenizer`, optional (default = `source_tokenizer`)
    source_token_indexers : `dict[str, TokenIndexer]`, optional
            (default = `{"tokens": SingleIdTokenIndexer("source_tokens")}`)
    target_token_indexers : `dict[str, TokenIndexer]`, optional
            (default = `{"tokens": SingleIdTokenIndexer("target_tokens")}`)
    max_length : `int`, optional (default = `None`)
        Pairs with more tokens than this in either sentence are left out, and counted in the log.
        For training only: archives, tests, and validation without a `validation_dataset_reader`
        read all.
    encoding : `str`, optional (default = `"utf-8"`)
    skip_incomplete : `bool`, optional (default = `False`)
        Leave out pairs with one blank sentence, and count them in the log.
    """

    FOR_TRAINING = ("max_length",)

    @inherits_settings(ConfiguredReader)
    def __init__(
        self,
        source_tokenizer: Optional[Tokenizer] = None,
        target_tokenizer: Optional[Tokenizer] = None,
        source_token_indexers: Optional[dict[str, TokenIndexer]] = None,
        target_token_indexers: Optional[dict[str, TokenIndexer]] = None,
        max_length: Optional[int] = None,
        encoding: str = "utf-8",
        skip_incomplete: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(max_length, **settings)
        self.max_length = max_length
        source_tokenizer = source_tokenizer or SpacyBlankTokenizer()
        self._tokenizers = {
            "source": source_tokenizer,
            "target": target_tokenizer or source_tokenizer,
        }
        self._token_indexers = {
            "source_tokens": source_token_indexers or _words_of_its_own("source_tokens"),
            "target_tokens": target_token_indexers or _words_of_its_own("target_tokens"),
        }
        self._encoding = check_encoding(encoding)
        self._skip_incomplete = skip_incomplete

    def _read(self, file_path: Any) -> Iterator[Instance]:
        return islice(self._short_pairs(file_path), self.max_instances)

    def _short_pairs(self, file_path: Any) -> Iterator[Instance]:
        """Yield the pairs of at most `max_length` tokens."""
        for source, target in self._share(self._pairs(str(file_path))):
            instance = self.text_to_instance(source, target)
            metadata: Any = instance["metadata"]
            longest = max(len(metadata["source_tokens"]), len(metadata["target_tokens"]))
            if self.max_length is not None and longest > self.max_length:
                self._left_out[f"of more than {self.max_length} tokens (max_length)"] += 1
            else:
                yield instance

    def _pairs(self, file_path: str) -> Iterator[tuple[str, str]]:
        """Yield the sentences of a path, without the blank ones."""
        for where, source, target in self._lines(file_path):
            if source and target:
                yield source, target
            elif source or target:
                self._leave_out(where, "sentence" if target else "translation")

    def _leave_out(self, where: Source, blank: str) -> None:
        """Count a pair with a blank side; raise an error unless such pairs are skipped."""
        self._left_out["with a blank side (skip_incomplete)"] += 1
        if not self._skip_incomplete:
            raise ConfigurationError(
                f"{where}: the {blank} is blank, but its pair is not; set skip_incomplete to leave "
                "out such pairs"
            )

    def _lines(self, file_path: str) -> _Lines:
        """Return the lines of a path, in one of the two forms; sentences may be blank."""
        names = _ALTERNATIVES.search(file_path)
        if names is None:
            return self._tab_separated(file_path)
        before = file_path[: names.start()]
        after = file_path[names.end() :]
        return self._aligned(f"{before}{names[1]}{after}", f"{before}{names[2]}{after}")

    def _aligned(self, source_path: str, target_path: str) -> _Lines:
        """Yield the lines of two files; raise `ConfigurationError` if one of them is longer."""
        sources = read_lines(source_path, self._encoding)
        targets = read_lines(target_path, self._encoding)
        for number, (source, target) in enumerate(zip_longest(sources, targets), start=1):
            if source is None:
                raise _shorter_file(source_path, number - 1, target_path)
            if target is None:
                raise _shorter_file(target_path, number - 1, source_path)
            yield Source(source_path, number), source[1].strip(), target[1].strip()

    def _tab_separated(self, file_path: str) -> _Lines:
        """Yield the lines of one file; raise `ConfigurationError` for one without a single tab."""
        for number, line in read_lines(file_path, self._encoding):
            cells = line.split("\t") if line.strip() else ["", ""]
            if len(cells) != 2:
                raise ConfigurationError(
                    f"{Source(file_path, number)}: expected a sentence, a tab and its translation, "
                    f"got {len(cells)} columns; two aligned files are named as train.{{de,en}}"
                )
            yield Source(file_path, number), cells[0].strip(), cells[1].strip()

    def text_to_instance(self, source: str, target: Optional[str] = None) -> Instance:
        """Make the instance of a sentence, with its translation if there is one.

        It has the fields listed above. Raise `ConfigurationError` for a text that is not a string.
        """
        tokens = self._tokens("source", source) or [Token(DEFAULT_OOV_TOKEN)]
        words = without_padding_word(tokens, DEFAULT_OOV_TOKEN)
        fields = {"source_tokens": TextField(words)}
        metadata: dict[str, Any] = {"source": source, "source_tokens": [t.text for t in tokens]}
        if target is not None:
            tokens = self._tokens("target", target)
            words = without_padding_word(tokens, DEFAULT_OOV_TOKEN)
            fields["target_tokens"] = TextField([Token(START_SYMBOL), *words, Token(END_SYMBOL)])
            metadata["target"] = target
            metadata["target_tokens"] = [token.text for token in tokens]
        return instance_of(fields, metadata)

    def _tokens(self, side: str, text: str) -> list[Token]:
        """Return the tokens of a text by the tokenizer of its side, "source" or "target"."""
        tokenizer = self._tokenizers[side]
        tokens = tokenizer.tokenize(check_text(text, f"the {side}"))
        return tokens if isinstance(tokenizer, BpeTokenizer) else self._count(tokens)

    def apply_token_indexers(self, instance: Instance) -> None:
        """Give the text fields of the `instance` their token indexers."""
        for name, indexers in self._token_indexers.items():
            field = instance.fields.get(name)
            if isinstance(field, TextField):
                field.token_indexers = indexers


def _words_of_its_own(namespace: str) -> dict[str, TokenIndexer]:
    """Return the default indexers of a side, whose words have their own namespace."""
    return {"tokens": SingleIdTokenIndexer(namespace)}


def _shorter_file(path: str, num_lines: int, longer_path: str) -> ConfigurationError:
    """Return the error for a file with fewer lines than its translation."""
    return ConfigurationError(
        f"{path} has {num_lines} lines, but {longer_path} has more; expected files that are "
        "aligned line by line"
    )
