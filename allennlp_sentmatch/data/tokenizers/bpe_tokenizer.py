"""Moses tokenization and byte pair encoding."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import tokenizers
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN

from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.nn.checks import COUNT, optional

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer

END_OF_WORD = "</w>"
JOINER = "\uffed"
"""The mark of a word that has no space on that side, as in OpenNMT's tokenizer."""


@Tokenizer.register("bpe")
class BpeTokenizer(Tokenizer):
    """Splits text as Moses does and words into the subwords of a trained byte pair encoding.

    [Sennrich et al. (2016)](https://aclanthology.org/P16-1162), with the `tokenizers` library; a
    subword that ends a word ends in `</w>`. Where Moses splits a text without a space, a word has
    the mark `￭`, so that `detokenize` gives back any text, with single spaces. `allennlp learn-bpe`
    trains the encoding and writes `file`. A training copies it to its serialization directory, and

        "include_in_archive": ["bpe.json"]

    in the configuration puts it into the archive, so that the archive splits raw text anywhere.

    # Parameters

    file : `str`
        The trained encoding. Ignored if `serialization_dir` has a file of this name: an archive
        reads its own copy.
    language : `str`, optional (default = `"en"`)
        The language, as Moses abbreviates it.
    lowercase : `bool`, optional (default = `False`)
        Whether to lower-case the text.
    """

    def __init__(
        self,
        file: AnyPath,
        language: str = "en",
        lowercase: bool = False,
        serialization_dir: Optional[str] = None,
    ) -> None:
        # Importing it takes half a second, which every command of `allennlp` would wait for.
        from sacremoses import MosesDetokenizer, MosesTokenizer

        path = Path(file)
        if serialization_dir is not None:
            path = _copied(path, Path(serialization_dir))
        if not path.is_file():
            raise ConfigurationError(
                f"the byte pair encoding {path} does not exist: `allennlp learn-bpe` trains one; "
                f'for an archive, train with "include_in_archive": ["{path.name}"]'
            )
        self.language = language
        self._subwords, self._is_marked = _load(path)
        self._moses = MosesTokenizer(language)
        self._detokenizer = MosesDetokenizer(language)
        self._lowercase = lowercase

    def tokenize(self, text: str) -> list[Token]:
        """Split a text into subwords. A character that the encoding lacks is out of the
        vocabulary.
        """
        words = " ".join(_words(self._moses, text, self._lowercase, self._is_marked))
        return [Token(subword) for subword in self._subwords.encode(words).tokens]

    def detokenize(self, subwords: Iterable[str]) -> str:
        """Return the text of a list of subwords.

        Encodings of version 0.1.0 have no marks: their spaces are where Moses' detokenizer puts
        them, which knows no typographic quotes.
        """
        parts = []
        for subword in subwords:
            ends_word = subword == DEFAULT_OOV_TOKEN or subword.endswith(END_OF_WORD)
            part = subword.removesuffix(END_OF_WORD)
            parts.append(f"{part} " if ends_word else part)
        words = "".join(parts).split()
        if self._is_marked:
            return re.sub(f" ?{JOINER} ?", "", " ".join(words))
        return str(self._detokenizer.detokenize(words))


def _copied(file: Path, serialization_dir: Path) -> Path:
    """Copy a file that a training reads to its directory, and return the copy if it is there."""
    copy = serialization_dir / file.name
    if not copy.is_file() and file.is_file() and serialization_dir.is_dir():
        shutil.copyfile(file, copy)
    return copy if copy.is_file() else file


def learn_bpe(
    texts: Iterable[tuple[str, str]],
    num_merges: int = 10000,
    lowercase: bool = False,
    vocabulary_size: Optional[int] = None,
) -> dict[str, Any]:
    """Train a byte pair encoding on texts, each with the abbreviation of its language.

    Texts of two languages give a joint encoding. It has `num_merges` merges, fewer only if no pair
    of subwords is left; or `vocabulary_size` subwords, of one character or made by a merge.

    Of equally frequent pairs, the first one is merged first. Subwords are ordered as follows:
    characters in the order of their code points, then subwords in the order in which they were
    made. The result depends only on the texts.

    Return the `alphabet`, a list of subwords, the `merges`, pairs of subwords, the first merge
    first, and the mark, `joiner`. Saved as JSON, this is the file of a `BpeTokenizer`.

    Raise `ConfigurationError` for a number below 1, a lone surrogate, or texts without words.
    """
    with configuration_errors():
        COUNT.check("merges", num_merges)
        optional(COUNT).check("vocabulary size", vocabulary_size)
    counts = _count_words(texts, lowercase)
    if not counts:
        raise ConfigurationError("the texts have no words to learn an encoding from")
    counts[JOINER] += 1  # later texts may have marks that these texts lack
    # The library numbers symbols as it meets them, in an order that differs from process to
    # process, and merges the pair with the lower numbers in ties. Special tokens are numbered in
    # advance.
    last_characters = {word[-1] + END_OF_WORD for word in counts}
    symbols = sorted(last_characters.union(*counts))
    if vocabulary_size is None:
        vocabulary_size = len(symbols) + num_merges
    # The library reserves memory for all subwords, so their number is limited: each merge joins two
    # subwords in at least one word.
    vocabulary_size = min(vocabulary_size, len(symbols) + sum(map(len, counts)))
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=symbols,
        end_of_word_suffix=END_OF_WORD,
        show_progress=False,
    )
    trained = _tokenizer(tokenizers.models.BPE(end_of_word_suffix=END_OF_WORD))
    repeated = (" ".join([word] * count) for word, count in counts.items())
    trained.train_from_iterator(repeated, trainer)
    state = json.loads(trained.to_str())["model"]
    merges = []
    for pair in state["merges"]:
        # Older versions of the library write a merge as one string.
        merges.append(pair.split(" ") if isinstance(pair, str) else pair)
    merged = {"".join(pair) for pair in merges}
    alphabet = sorted(set(state["vocab"]) - merged)
    return {"alphabet": alphabet, "merges": merges, "joiner": JOINER}


def _count_words(texts: Iterable[tuple[str, str]], lowercase: bool) -> Counter[str]:
    from sacremoses import MosesTokenizer

    moses = cache(MosesTokenizer)
    counts: Counter[str] = Counter()
    for position, (text, language) in enumerate(texts, start=1):
        check_text(text, f"text {position}")
        counts.update(_words(moses(language), text, lowercase))
    return counts


def _words(
    moses: "MosesTokenizer",
    text: str,
    lowercase: bool,
    is_marked: bool = True,
) -> list[str]:
    """Return the words of a text; with `is_marked`, they have the mark if no space is between."""
    text = text.lower() if lowercase else text
    if not is_marked:
        return list(moses.tokenize(text, escape=False))
    text = text.replace(JOINER, " ")
    words: list[str] = []
    end = 0
    for word in moses.tokenize(text, escape=False):
        start = text.find(word, end)
        is_joined = words and start == end
        end = max(start, end) + len(word)
        # The punctuation gets the mark, so that "house" is the same word before a space or a comma.
        if is_joined and word[0].isalnum() and not words[-1][-1].isalnum():
            words[-1] += JOINER
        elif is_joined:
            word = JOINER + word
        words.append(word)
    return words


def _load(path: Path) -> tuple[tokenizers.Tokenizer, bool]:
    """Return the encoding in a file, and whether its words have marks."""
    try:
        encoding = json.loads(path.read_text(encoding="utf-8"))
        merges = [(left, right) for left, right in encoding["merges"]]
        merged = [left + right for left, right in merges]
        subwords = dict.fromkeys([DEFAULT_OOV_TOKEN, *encoding["alphabet"], *merged])
        model = tokenizers.models.BPE(
            vocab={subword: index for index, subword in enumerate(subwords)},
            merges=merges,
            unk_token=DEFAULT_OOV_TOKEN,
            end_of_word_suffix=END_OF_WORD,
        )
    # The library raises plain exceptions for merges of unknown subwords.
    except Exception as error:
        raise ConfigurationError(
            f"{path} does not hold a byte pair encoding as `allennlp learn-bpe` writes it: {error}"
        ) from None
    return _tokenizer(model), "joiner" in encoding


def _tokenizer(model: tokenizers.models.BPE) -> tokenizers.Tokenizer:
    """Return the tokenizer that splits text by whitespace, and words by a model."""
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return tokenizer
