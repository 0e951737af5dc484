"""Files of every form give their sentences."""

import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib

import pytest

from scripts.encoder.read_texts import READERS, reader_of

pytestmark = pytest.mark.slow  # the program made the package's encoder once

FILES = {
    "pages": (
        "<?xml version='1.0'?><style>p { color: red }</style><h1>Top</h1><ul><li><p>One <b>bold</b>"
        "&nbsp;word.</p></li><li>Two<pre>code</pre> lines</li></ul><para>&dolphin; runs.</para>",
        ["Top", "One bold\u00a0word.", "Two  lines", "Dolphin runs."],
    ),
    "paragraphs": ("  * One\ntwo.\n\n    code\n\nThree\n%%%\nFour", ["One two.", "Three", "Four"]),
    "info": (
        "File: a, Next: b\n\n* Menu:\n* A: b.\n\n -- Function: c\n\nSay `a' here.",
        ["Say 'a' here."],
    ),
    "manuals": (
        '.TH A 1\n.SH NAME\na \\- does\n.PP\nThe option\n.B \\-x "y z"\nis \\fBnot\\fP it\\(aqs.\n'
        '.nf\ncode\n.fi\n.BR a (1)\n.\\" A comment',
        ["a - does", "The option -x y z is not it's.", "a(1)"],
    ),
    "quoted": (
        'f("Hello \\"you\\" there", "x") .. `a long text`',
        ['Hello "you" there', "a long text"],
    ),
    "dictionary": (
        "Dog \\Dog\\, n. [AS. docga.]\n   1. A quadruped of the genus {Canis}.\n\n"
        "   2. A dog is better. --Eccl. ix.\n\n   Syn: Hound; cur.\n",
        ["A dog is better."],
    ),
    "glosses": (
        "  1 This software is licensed | not a gloss\n"
        '1 n 01 dog 0 000 | a member of Canis; a pet; "the dog barked; it ran"\n'
        '2 n 01 cat 0 000 | a feline; "cats purr" --Author\n',
        ["a member of Canis; a pet", "the dog barked; it ran", "a feline", "cats purr", "Author"],
    ),
    "YAML glosses": (
        "0001-n:\n  definition:\n  - a dog that\n    barks\n  example:\n  - 'it''s late'\n"
        "  - source: x\n    text: y\n  members:\n  - dog\n",
        ["a dog that barks", "it's late", "source: x text: y"],
    ),
    "fortunes": ("Be good.\n\t\t-- Somebody\n%\nOr not.\n", ["Be good.", "Or not."]),
    "descriptions": (
        "Package: x\nDescription: reads the news\n It reads all.\n .\n Lists:\n  * an item\n"
        "Description-md5: 1\n\nPackage: y\nDescription-en: plays games\n",
        ["reads the news", "It reads all.", "Lists:", "an item", "plays games"],
    ),
    "components": (
        "Name:\n  C: Chess\n  de: Schach\nDescription:\n  C: >-\n"
        "    <p>Plays chess.</p><ul><li>Fast</li></ul>\n",
        ["Chess", "Plays chess.", "Fast"],
    ),
    "AIML": (
        "<template>I am <star/>.</template><template>Hi.<br/>You?</template>",
        ["Hi.", "You?"],
    ),
    "conversations": ("categories:\n- - Hello\n  - 'Hi there'\n", ["Hello", "Hi there"]),
    "trivia": ("#Q Who\nwas it?\n^ He\nA She\n#Q Two?\n^ 2\n", ["Who\nwas it?", "Two?"]),
    "treebank": ("# text = It rains.\n1\tIt\n\n# text = Yes.\n", ["It rains.", "Yes."]),
    "medical answers": (
        "<Question>What is (are) X ?</Question><Answer>Bad.\n\nVery &amp; so.</Answer>",
        ["What is X?", "Bad.", "Very & so."],
    ),
    "JSON caption": ('[{"caption": "A dog", "x": {"caption": ["b"]}, "y": "z"}]', ["A dog", "b"]),
    "JSON lines sentence": ('{"sentence": "A"}\n\n{"sentence": "B", "x": "C"}\n', ["A", "B"]),
    "tab 1 2, tokenized": (
        "It 's `` a '' , no ?\tShe did n't . <::::> B .\tc\n",
        ["It's `` a'', no?", "She didn't.", "B."],
    ),
    "days": (
        "1242 - A ship sails.\n44 BC - A man is born.\nA king, the first - of two.\n",
        ["A ship sails.", "A man is born.", "A king, the first - of two."],
    ),
    "map messages": (
        "arch map\nmsg\n@match hi|yes\nGood day.\n\n[color=red]Who[/color] are\nyou?\nendmsg\nend\n"
        "name It is elsewhere.\nmsg\n=====\nA sign.\nendmsg\n",
        ["Good day.", "Who are\nyou?", "A sign."],
    ),
    "JSON extract": ('{"A dog": {"title": "A dog", "extract": "It barks."}}', ["It barks."]),
    "JSON steps": ('{"a": {"ingredients": ["salt"], "steps": ["Mix.", "Eat."]}}', ["Mix.", "Eat."]),
    "CSV 3 4": ('a,b,c,d\n1,2,"x, ""y""",z\n', ["c", "d", 'x, "y"', "z"]),
    "lines": ("One. Two.\n\nThree.\n", ["One. Two.", "Three."]),
    "Markdown": (
        "---\ntitle: A\n---\n# Top\nSee *the* [dog](http://a.b/c_(d)) and `cat`. ![x](y.png)\n\n"
        "```\ncode\n```\n* An **item**\n* A snake_case &amp; {{ include }} one\n\n| a | b |\n",
        ["Top\nSee the dog and cat.", "An item", "A snake_case &  one"],
    ),
    "CC BY stories": (
        "# Cat\n\n##\nShe ran.\n\nFar.\n\n##\n* License: [CC-BY]\n* Text: A\n",
        ["Cat", "She ran.", "Far."],
    ),
    "CC BY posts": ("---\nlicense: CC-BY-SA-3.0\n---\nIt is out.\n", ["It is out."]),
    "comments": ("Fine &amp; so\t1\ta\nI like [NAME].\t2\tb\n", ["Fine & so"]),
    "joined texts": (
        '{"Play": [{"data": [{"text": "play "}, {"text": "it", "entity": "x"}]}]}',
        ["play it"],
    ),
    "WikiText": (
        ' = Top = \n\n A " well @-@ known " dog , of 1 @,@ 000 . \n',
        ['A "well-known" dog, of 1,000.'],
    ),
    "posts": (
        '<row Id="1" Title="Why?" Body="&lt;p&gt;It &amp;amp; &lt;b&gt;I&lt;/b&gt;.&lt;/p&gt;'
        '&lt;pre&gt;code&lt;/pre&gt;&lt;li&gt;So&lt;/li&gt;" /><row Id="2" Text="No." />',
        ["Why?", "It & I.", "So", "No."],
    ),
    "labelled lines": ("__label__a __label__b-c Is it?\n", ["Is it?"]),
    "CSV turns": ('a,"User 1: Hi!\nUser 2: Yes."\n', ["a", "Hi!", "Yes."]),
    "treebank, tokenized": ("# text = It 's late .\n", ["It's late."]),
}
"""For a reader, the content of a file and the texts in it."""


@pytest.mark.parametrize("reader", FILES)
def test_readers(reader, tmp_path):
    content, expected = FILES[reader]
    (tmp_path / "a").write_text(content, "utf-8")
    texts = [text.strip() for text in READERS[reader](tmp_path / "a")]
    assert [text for text in texts if text] == expected


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        ("CC BY stories", "# Cat\n\nShe ran.\n\n* License: CC BY-NC-SA\n"),
        ("CC BY stories", "# Cat\n\nShe ran.\n"),
        ("CC BY posts", "---\nlicense: CC-BY-NC-4.0\n---\nIt is out.\n"),
        ("CC BY posts", "---\ntitle: A\n---\nIt is out.\n"),
    ],
)
def test_texts_of_other_licences_are_not_read(reader, content, tmp_path):
    (tmp_path / "a").write_text(content, "utf-8")
    assert not list(READERS[reader](tmp_path / "a"))


def test_messages_of_a_catalogue(tmp_path):
    originals = [b"", b"Open the _file", b"menu\4Save it\0Save them", b"%d files", b"<b>A</b>\n\nB"]
    start = 28 + 8 * len(originals)
    data = b""
    table = b""
    for original in originals:
        table += struct.pack("<2I", len(original), start + len(data))
        data += original + b"\0"
    header = struct.pack("<7I", 0x950412DE, 0, len(originals), 28, 28, 0, 0)
    (tmp_path / "a.mo").write_bytes(header + table + data)
    messages = list(READERS["messages"](tmp_path / "a.mo"))
    assert messages == ["", "Open the file", "Save it", "A", "B"]


def test_chats_of_people(tmp_path):
    def conversation(*texts):
        return {"prompt": "What?", "messages": [[{"text": text, "sender": "a"}] for text in texts]}

    people = conversation("Hi", "How are you?", *(f"{word} is here" for word in "abcdefgh" * 6))
    program = conversation("Hi", *(f"The dog ate {count}" for count in range(40)))
    short = conversation("The sea", "The sun")
    (tmp_path / "a").write_text(json.dumps({"1": people, "2": program, "3": short}), "utf-8")
    texts = list(READERS["chats"](tmp_path / "a"))
    assert texts[:2] == ["Hi", "How are you?"]
    assert texts[-2:] == ["The sea", "The sun"]
    assert len(texts) == 52


def test_a_module_for_sword(tmp_path):
    books = [
        b"<title>Genesis</title><p>In the <w lemma='x'>beginning</w>.<note n='a'>Or.</note></p>",
        b"<chapter/><note/>He wept. <l>Twice.</l>",
    ]
    packed = b""
    places = b""
    for book in books:
        data = zlib.compress(book)
        places += struct.pack("<3I", len(packed), len(data), len(book))
        packed += data + b"between"
    (tmp_path / "a.bzz").write_bytes(packed)
    (tmp_path / "a.bzs").write_bytes(places)
    verses = [verse.strip() for verse in READERS["SWORD"](tmp_path / "a.bzz")]
    assert [verse for verse in verses if verse] == ["In the beginning.", "He wept.", "Twice."]


def test_corpora_of_nltk(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as written:
        written.writestr("a/", "")
        written.writestr("a/README.txt", "Not this.")
        written.writestr(
            "a/b.txt",
            "* Product: a camera\n[t]the best\nsize[+2][u]##it 's small , i think . \n"
            '<Pros>Easy to use</Pros>\nhe said " no " twice .\n\n'
            "He_PRP said_VBD `_`` `_`` yes_UH '_POS '_POS ._.\n",
        )
    assert list(filter(None, READERS["zipped lines"](tmp_path / "a.zip"))) == [
        "it's small, i think.",
        "Easy to use",
        'he said "no" twice.',
        'He said "yes".',
    ]


def test_packed_texts(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("a/README", "Not this.")
        written.writestr("a/b.txt", "One.\n\nTwo.")
    (tmp_path / "a.zip").write_bytes(archive.getvalue())
    assert list(READERS["zipped texts"](tmp_path / "a.zip")) == ["One.", "Two."]
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        (tmp_path / "a").write_bytes(compress(b"Three."))
        assert list(READERS["paragraphs"](tmp_path / "a")) == ["Three."]


@pytest.mark.parametrize("text", ["", "<!-- only a comment -->", "\0"])
def test_pages_without_text(text, tmp_path):
    (tmp_path / "a.html").write_text(text)
    assert list(READERS["pages"](tmp_path / "a.html")) == []


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("/usr/share/info/a.info-2.gz", "info"),
        ("/usr/share/man/man1/a.1.gz", "manuals"),
        ("/doc/a.xhtml", "pages"),
        ("/a/de/LC_MESSAGES/b.mo", "messages"),
        ("/doc/README.Debian", "paragraphs"),
        ("/bin/a.py", None),
    ],
)
def test_readers_by_name(name, reader):
    assert reader_of(name) is (READERS[reader] if reader else None)
