"""IWSLT 2014 is divided as in fairseq's script."""

import subprocess
import sys

import pytest

START = "<url>http://a</url>\n<title>{}</title>\n"
TRAINING = {
    "de": START.format("Über uns") + "Ein Hund .\nEin Satz mit viel mehr Wörtern .",
    "en": START.format("About us") + "A dog .\nShort",
}
TEST = '<doc>\n<title>Name</title>\n<seg id="1"> {} &amp; co </seg>\n</doc>\n'


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "de-en"
    source.mkdir()
    for language, text in TRAINING.items():
        # 24 copies of two good pairs and one whose lengths differ too much
        (source / f"train.tags.de-en.{language}").write_text(f"{text}\n" * 24, encoding="utf-8")
        for name in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            file = source / f"IWSLT14.{name}.de-en.{language}.xml"
            file.write_text(TEST.format(f"{name}\u2019s {language}"), encoding="utf-8")
    return tmp_path


def test_parts(repository, folder):
    script = repository / "scripts" / "prepare_iwslt14.py"
    subprocess.run([sys.executable, script, folder / "de-en", folder / "out"], check=True)

    def lines(name):
        return (folder / "out" / name).read_text(encoding="utf-8").splitlines()

    # the 23rd and the 46th of 48 pairs validate
    assert lines("valid.de") == ["Über uns", "Ein Hund ."]
    assert lines("valid.en") == ["About us", "A dog ."]
    assert len(lines("train.de")) == 46
    assert len(lines("train.en")) == 46
    assert lines("test.en")[0] == "TED.dev2010's en & co"
    assert len(lines("test.de")) == 5
