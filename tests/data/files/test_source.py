from pathlib import Path

from allennlp_sentmatch.data.files.source import Source


def test_as_text():
    assert str(Source("pairs.tsv", 3)) == "pairs.tsv, line 3"
    assert str(Source(Path("pos") / "1.txt")) == str(Path("pos/1.txt"))
    assert str(Source("squad.json", part="data[0]")) == "squad.json, data[0]"
