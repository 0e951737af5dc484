"""A model card shows users' texts as text."""

import json
from hashlib import sha256

import pytest

from allennlp_sentmatch.standalone.model_card import SIMILARITY, Origin, write_model_card


@pytest.mark.parametrize(
    "label",
    [
        "```\n---\n# x",
        "\n```\n| a |",
        "- a",
        "---",
        "<b>",
        "~~~",
        "\u202eevil\u2028",
        "\ud800",
        "شبیه",
    ],
)
def test_nothing_from_users_leaves_its_block(tmp_path, label):
    (tmp_path / "inner").mkdir()
    for name in ("a.json", "inner/b"):
        (tmp_path / name).write_text(name)
    facts = {
        "labels": [label, 1, True],
        label: 0.5,
        "unknown": None,
    }
    write_model_card(tmp_path, "Title\n\nText.", "load()", Origin(SIMILARITY, facts))
    card = (tmp_path / "README.md").read_text("utf-8")
    del facts["unknown"]
    front, text = card.removeprefix("---\n").split("\n---\n", 1)
    assert front == "library_name: allennlp_sentmatch\ntags: [sentence-similarity]"
    usage, known, files = (part.split("\n```\n")[0] for part in text.split("\n```")[1::2])
    assert usage == "python\nload()"
    assert json.loads(known.removeprefix("json\n")) == facts
    expected = [f"{sha256(n.encode()).hexdigest()}  {n}" for n in ("a.json", "inner/b")]
    assert files.splitlines() == ["text", *expected]
    assert card.count("\n```") == 6
    assert all(c == "\n" or c.isprintable() for c in card)


def test_a_long_fact_is_left_to_its_file(tmp_path):
    facts = {"classes": ["x" * 99] * 999, "matcher": "concat"}
    write_model_card(tmp_path, "Title", "load()", Origin(facts=facts))
    card = (tmp_path / "README.md").read_text("utf-8")
    assert len(card) < 1200
    assert '"matcher": "concat"' in card
