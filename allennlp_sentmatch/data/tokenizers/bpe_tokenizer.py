"""Moses tokenization and byte pair encoding."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import tokenizers
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN

from allennlp_sentmatch.data.text import check_text

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
        file: Union[str, "PathLike[str]"],
        language: str = "en",
        lowercase: bool = False,
        serialization_dir: Optional[str] = None,
    ) -> None:
        # Importing it takes half a second, which every command of `allennlp` would wait for.
        from sacremoses import MosesDetokenizer, MosesTokenizer

        path = Path(file)
        if serialization_dir is not None:
            copy = Path(serialization_dir) / path.name
            if not copy.is_file() and path.is_file() and copy.parent.is_dir():
                shutil.copyfile(path, copy)
            if copy.is_file():
                path = copy
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
        words = "".join(
            f"{subword} " if subword == DEFAULT_OOV_TOKEN else re.sub("</w>$", " ", subword)
            for subword in subwords
        )
        if self._is_marked:
            return re.sub(f" ?{JOINER} ?", "", " ".join(words.split()))
        return str(self._detokenizer.detokenize(words.split()))


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

    Returns the `alphabet`, a list of subwords, the `merges`, pairs of subwords, the first merge
    first, and the mark, `joiner`. Saved as JSON, this is the file of a `BpeTokenizer`.

    Raises a `ConfigurationError` for a number below 1, a lone surrogate, or texts without words.
    """
    from sacremoses import MosesTokenizer

    for name, number in (("merges", num_merges), ("vocabulary size", vocabulary_size)):
        if number is not None and number < 1:
            raise ConfigurationError(f"{name}: expected at least 1, got {number}")
    moses = cache(MosesTokenizer)
    counts: Counter[str] = Counter()
    for position, (text, language) in enumerate(texts, start=1):
        check_text(text, f"text {position}")
        counts.update(_words(moses(language), text, lowercase))
    if not counts:
        raise ConfigurationError("the texts have no words to learn an encoding from")
    counts[JOINER] += 1  # later texts may have marks that these texts lack
    # The library numbers symbols as it meets them, in an order that differs from process to
    # process, and merges the pair with the lower numbers in ties. Special tokens are numbered in
    # advance.
    symbols = sorted(set().union(*counts) | {word[-1] + END_OF_WORD for word in counts})
    if vocabulary_size is None:
        vocabulary_size = len(symbols) + num_merges
    # The library reserves memory for all subwords, so their number is limited: each merge joins two
    # subwords in at least one word.
    vocabulary_size = min(vocabulary_size, len(symbols) + sum(map(len, counts)))
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix=END_OF_WORD))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trained.train_from_iterator(
        (" ".join([word] * count) for word, count in counts.items()),
        tokenizers.trainers.BpeTrainer(
            vocab_size=vocabulary_size,
            special_tokens=symbols,
            end_of_word_suffix=END_OF_WORD,
            show_progress=False,
        ),
    )
    state = json.loads(trained.to_str())["model"]
    # Older versions of the library write a merge as one string.
    merges = [pair.split(" ") if isinstance(pair, str) else pair for pair in state["merges"]]
    merged = {"".join(pair) for pair in merges}
    alphabet = sorted(set(state["vocab"]) - merged)
    return {"alphabet": alphabet, "merges": merges, "joiner": JOINER}


def _words(
    moses: "MosesTokenizer", text: str, lowercase: bool, is_marked: bool = True
) -> list[str]:
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
    try:
        encoding = json.loads(path.read_text(encoding="utf-8"))
        merges = [(left, right) for left, right in encoding["merges"]]
        subwords = dict.fromkeys([DEFAULT_OOV_TOKEN, *encoding["alphabet"]])
        subwords.update(dict.fromkeys(left + right for left, right in merges))
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
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return tokenizer, "joiner" in encoding
