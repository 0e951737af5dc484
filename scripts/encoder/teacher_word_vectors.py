"""Make word vectors for a student from its teacher.

    python -m scripts.encoder.teacher_word_vectors out/teacher/model.tar.gz WORDS SENTENCES OUTPUT

encodes each word as a sentence, reduces the vectors by principal component analysis to
`--size` dimensions, and weights each word by a / (a + p), where p is its relative frequency in
SENTENCES and a is 0.001 (Arora et al. 2017, https://openreview.net/forum?id=SyK00v5xx), so that
"the" adds less to a sentence than "dog". Model2Vec makes its static vectors in a similar way
(https://github.com/MinishLab/model2vec). The vectors are scaled to a standard deviation of 0.4,
about the same as GloVe's.

WORDS has a word at the beginning of each line, in lower case: a list, or a file in GloVe's format,
whose numbers are ignored. OUTPUT (.txt.gz) has the words in the same order, in GloVe's format.
"""

import argparse
import gzip
from collections import Counter
from pathlib import Path

import numpy
from sklearn.decomposition import PCA

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.data.tokenizers import SpacyBlankTokenizer
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.lines import read_lines
from allennlp_sentmatch.files.tables import read_sentences

SMOOTHING = 1e-3
STANDARD_DEVIATION = 0.4


def read_words(file: Path) -> list[str]:
    """Return the first word of each line."""
    return [line.rstrip().partition(" ")[0] for _, line in read_lines(file)]


def frequency_weights(words: list[str], sentences: list[str]) -> Array:
    """Return the weights (V,) of words, 1 for words that do not occur in the sentences."""
    splitter = SpacyBlankTokenizer().splitter()
    counts = Counter(word.lower() for text in sentences for word in splitter.words(text))
    total = max(counts.total(), 1)
    return numpy.array([SMOOTHING / (SMOOTHING + counts[word] / total) for word in words])


def reduce_vectors(vectors: Array, weights: Array, size: int) -> Array:
    """Return the weighted principal components (V, size) of the vectors (V, P), scaled."""
    reduced = PCA(size, svd_solver="full").fit_transform(vectors) * weights[:, None]
    scaled: Array = reduced * (STANDARD_DEVIATION / reduced.std())
    return scaled


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("teacher", help="the archive")
    parser.add_argument("words", type=Path)
    parser.add_argument("sentences", type=Path, help="a text file, one sentence per line")
    parser.add_argument("output", type=Path, help="a .txt.gz file")
    parser.add_argument(
        "--size",
        type=int,
        default=256,
        help="(default: 256)",
    )
    options = parser.parse_args()
    words = read_words(options.words)
    weights = frequency_weights(words, list(read_sentences(options.sentences)))
    vectors = ArchiveEncoder.from_archive(options.teacher).encode(words)
    if not 1 <= options.size <= min(vectors.shape):
        parser.error(f"--size must be between 1 and {min(vectors.shape)}, got {options.size}")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(options.output, "wt", encoding="utf-8") as output:
        for word, vector in zip(words, reduce_vectors(vectors, weights, options.size)):
            output.write(f"{word} {' '.join(f'{value:.5g}' for value in vector)}\n")


if __name__ == "__main__":
    main()
