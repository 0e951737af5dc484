"""A source of texts, and a small WordNet."""

import pytest

from scripts.encoder.text_sources import Source

# number, part of speech, words, pointers (symbol, target, source and target word) | gloss
SYNSETS = {
    "noun": [
        (1, "05", ["animal"], []),
        (2, "05", ["pony", "horsie"], [("@", 1, "0000")]),
        (3, "05", ["zebra"], [("@", 1, "0000")]),
        (4, "09", ["idea", "thought"], []),
    ],
    "verb": [],
    "adj": [
        (5, "00", ["open"], [("!", 6, "0101")]),
        (6, "00", ["closed", "shut"], [("!", 5, "0101")]),
        (7, "00", ["quiet", "silent"], []),
    ],
    "adv": [],
}


def source(name="A", kind="help", **settings):
    defaults = {
        "origin": "deb",
        "package": name,
        "version": "1",
        "sha256": "0",
    }
    defaults |= {"licence": "CC0", "copyleft": False, "limit": 99}
    return Source(name=name, kind=kind, **(defaults | settings))


@pytest.fixture
def wordnet(tmp_path):
    """A folder with WordNet's files of a few words."""
    folder = tmp_path / "wordnet"
    folder.mkdir()
    for part, synsets in SYNSETS.items():
        letter = part[0]
        data = ["  1 a licence | text"]
        index = ["  1 a licence"]
        for number, file, words, pointers in synsets:
            listed = " ".join(f"{word} 0" for word in words)
            ends = " ".join(f"{symbol} {goal:08} {letter} {at}" for symbol, goal, at in pointers)
            pointed = f"{len(pointers):03} {ends}".strip()
            data.append(f"{number:08} {file} {letter} {len(words):02x} {listed} {pointed} | gloss")
            index += [f"{word} {letter} 1 0 1 0 {number:08}" for word in words]
        (folder / f"data.{part}").write_text("\n".join(data))
        (folder / f"index.{part}").write_text("\n".join(index))
    (folder / "cntlist.rev").write_text("pony%1:05:00:: 1 3\nopen%3:00:00:: 1 2\n")
    return folder
