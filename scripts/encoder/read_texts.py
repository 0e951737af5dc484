"""Read English texts from files: pages, manuals, dictionaries, games' texts, data sets.

`READERS` names a function for each file format, which yields paragraphs; english.py divides them
into sentences.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Callable, Optional

from lxml import html

Reader = Callable[[Path], Iterable[str]]


PACKED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
"""The first bytes of packed files, regardless of their names."""


def detokenize(text: str) -> str:
    """Return a tokenized text in its usual spelling."""
    text = re.sub(r"''\s*(.*?)\s*''", r'"\1"', text)
    text = re.sub(r" ([.,;:?!')\]%])", r"\1", text)
    text = re.sub(r" (n't|'s|'re|'ve|'m|'ll|'d)\b", r"\1", text)
    return re.sub(r"([(\[$]) ", r"\1", text)


def tokenized(read: Reader) -> Reader:
    """Return another reader's texts, detokenized."""
    return lambda file: map(detokenize, read(file))


def text_of(file: Path) -> str:
    """Return the text of a file, packed or not."""
    data = file.read_bytes()
    for start, unpack in PACKED.items():
        if data.startswith(start):
            data = unpack(data)
            break
    return data.decode("utf-8", "replace")


PARAGRAPHS = """p li dd dt td th h1 h2 h3 h4 h5 para simpara title caption item note term figcaption
blockquote summary desc listitem source target"""
BLOCKS = frozenset(PARAGRAPHS.split())
REMOVED = """footer math metadata nav pre programlisting screen script style svg synopsis"""
NO_TEXT = "|".join(f"//{tag}" for tag in REMOVED.split())
"""Elements that are removed from a page."""


def pages(file: Path) -> Iterator[str]:
    """Yield the paragraphs of a page in HTML or XML."""
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text_of(file))
    text = re.sub(r"<(/?)(?:[a-z]+:)([a-z])", r"<\1\2", text)
    if not text.strip():
        return
    try:
        root = html.fromstring(text)
    except Exception:  # lxml raises errors of many classes
        return
    for element in root.xpath(NO_TEXT):
        parent = element.getparent()
        if parent is not None:
            previous = element.getprevious()
            tail = f" {element.tail or ''}"
            if previous is None:
                parent.text = (parent.text or "") + tail
            else:
                previous.tail = (previous.tail or "") + tail
            parent.remove(element)
    for element in root.iter():
        inner = (child.tag for child in element.iterdescendants())
        if element.tag in BLOCKS and BLOCKS.isdisjoint(inner):
            # "&dolphin;" is a program's name, an entity that is defined elsewhere.
            yield re.sub(r"&(\w+);", lambda found: found[1].capitalize(), element.text_content())


def blocks(text: str) -> Iterator[str]:
    """Yield blocks of a plain text between empty lines, without single indented lines."""
    for block in re.split(r"\n\s*\n|\n%+\n", text):
        lines = block.strip("\n").split("\n")
        if len(lines) > 1 or not lines[0].startswith(("    ", "\t")):
            yield " ".join(lines)


def paragraphs(file: Path) -> Iterator[str]:
    """Yield the paragraphs and items of a plain text."""
    for block in blocks(text_of(file)):
        yield re.sub(r"^\s*([*+-]|\(?\d+[.)])\s+", "", block)


def info(file: Path) -> Iterator[str]:
    """Yield the paragraphs of a manual for GNU info, without its menus."""
    for block in blocks(text_of(file)):
        if not re.search(r"^\s*(\*|File:|\x1f|--)|\*note|Next:|Prev:", block):
            yield block.replace("`", "'")


ROFF_FONT = re.compile(r"\\f(\[[^\]]*\]|\(..|.)|\\[&|^/,%)]|\\s[+-]?\d|\\m\[[^\]]*\]")
ROFF_CHARACTERS = {
    r"\-": "-", r"\(aq": "'", r"\(em": " - ", r"\(en": "-", r"\e": "\\", r"\ ": " ", r"\~": " ",
    r"\(lq": '"', r"\(rq": '"', r"\(dq": '"', r"\(oq": "'", r"\(cq": "'", r"\(bu": "", r"\0": " ",
    r"\*(lq": '"', r"\*(rq": '"', r"\*(L": '"', r"\*(R": '"', r"\(co": "(c)", r"\'": "'",
    r"\`": "`",
}  # fmt: skip


def manuals(file: Path) -> Iterator[str]:
    """Yield the paragraphs of a page for man, without examples and options."""
    paragraph: list[str] = []
    literal = False
    for line in text_of(file).split("\n"):
        line = ROFF_FONT.sub("", line)
        if line.startswith((".nf", ".EX", ".Bd", ".TS")):
            literal = True
        elif line.startswith((".fi", ".EE", ".Ed", ".TE")):
            literal = False
        elif literal or line.startswith(('.\\"', "'\\\"")):
            continue
        font = re.match(r"\.(?:BR|BI|IR|RB|RI|IB|B|I|Nm|Xr|Ar|Fl|Pa|Dq|Em|Sy|Cm)\s+(.*)", line)
        if font:
            words = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', font[1])]
            paragraph.append(("" if line[2].isalpha() else " ").join(words))
        elif line.startswith((".", "'")) or not line.strip():
            if paragraph:
                yield _roff(" ".join(paragraph))
            paragraph = []
        else:
            paragraph.append(line)
    if paragraph:
        yield _roff(" ".join(paragraph))


def _roff(text: str) -> str:
    for mark, character in ROFF_CHARACTERS.items():
        text = text.replace(mark, character)
    return text


def messages(file: Path) -> Iterator[str]:
    """Yield the original English messages of a catalogue of translations (.mo)."""
    data = file.read_bytes()
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    _, _, count, originals = struct.unpack_from(f"{order}4I", data)
    for i in range(count):
        length, offset = struct.unpack_from(f"{order}2I", data, originals + 8 * i)
        message = data[offset : offset + length].split(b"\0")[0].split(b"\4")[-1]
        text = re.sub(r"<[^>]*>|&(?=\w)|_(?=\w)", "", message.decode("utf-8", "replace"))
        if not re.search(r"%\d?\$?[a-z(]|\{|\$", text):
            yield from text.replace("\\n", "\n").split("\n\n")


QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`')


def quoted(file: Path) -> Iterator[str]:
    """Yield the quoted texts of a program or of a game's data."""
    for a, b in QUOTED.findall(re.sub(r'"\s*\.\.\s*"|\\\n', "", text_of(file))):
        text = re.sub(r"\\[nt\n]", " ", a or b).replace('\\"', '"')
        if " " in text and not re.search(r"%[sd]|[<>{}$%]", text):
            yield re.sub(r"<[^>]*>", " ", text)


# Marks of dictionaries: [sources], {references}, \pronunciations\ and --Authors.
DICTIONARY_MARKS = re.compile(r"\[[^\]]*\]|\\[^\\]*\\|--\s*[A-Z][\w. ()&']*|<[^>]*>|[{}|]")


def dictionary(file: Path) -> Iterator[str]:
    """Yield the definitions and quotations of a dictionary in dictd's format."""
    for paragraph in re.split(r"\n\s*\n", text_of(file)):
        if paragraph.startswith(" ") and "Syn:" not in paragraph:
            text = DICTIONARY_MARKS.sub(" ", paragraph)
            text = re.sub(r"^\s*(\(?[0-9a-z]{1,2}[.)]\s+)+", "", text)
            yield re.sub(r"\s+([,.;])", r"\1", text)


def glosses(file: Path) -> Iterator[str]:
    """Yield the glosses of WordNet, each definition and each example separately."""
    for line in text_of(file).split("\n"):
        if not line.startswith("  "):
            for part in re.split(r"; (?=\")|;? --", line.partition(" | ")[2]):
                yield part.strip(' "\n')


def yaml_glosses(file: Path) -> Iterator[str]:
    """Yield the definitions and examples of Open English WordNet."""
    for found in re.finditer(
        r"^  (?:definition|example):\n((?:  - .*\n(?:    .*\n)*)+)", text_of(file), re.MULTILINE
    ):
        for item in re.split(r"^  - ", found[1], flags=re.MULTILINE):
            item = " ".join(item.split())
            if item.startswith("text: "):
                item = item[6:]
            yield item.strip("'\"").replace("''", "'")


def fortunes(file: Path) -> Iterator[str]:
    """Yield the sayings of a file of fortunes, without their authors."""
    for saying in text_of(file).split("\n%\n"):
        yield re.sub(r"\n?\s*-- .*", "", saying, flags=re.DOTALL)


def descriptions(file: Path) -> Iterator[str]:
    """Yield the short and long descriptions of Debian's packages."""
    for found in re.finditer(
        r"^Description(?:-en)?: (.*)\n((?: .*\n)*)", text_of(file), re.MULTILINE
    ):
        yield found[1]
        for paragraph in re.split(r"^ \.\n|^ +(?=[*-] )", found[2], flags=re.MULTILINE):
            yield paragraph.strip(" *-")


def components(file: Path) -> Iterator[str]:
    """Yield the summaries and descriptions of applications in AppStream's catalogue."""
    for found in re.finditer(
        r"^(?:Summary|Description|Name):\n(?:  .*\n)*?  C: *(.*\n(?:    .*\n)*)",
        text_of(file),
        re.MULTILINE,
    ):
        text = found[1].replace("\\n", " ").lstrip(">-|").strip(" \n'\"")
        for part in re.split(r"</?(?:p|li|ul|ol)>", text):
            yield re.sub(r"<[^>]*>", " ", part).replace("''", "'").replace("\\", "")


def dialogues(file: Path) -> Iterator[str]:
    """Yield the categories of ALICE's answers (AIML)."""
    for found in re.finditer(r"<template>(.*?)</template>", text_of(file), re.DOTALL):
        if not re.search(r"<(star|get|bot|that|input)\b", found[1]):
            for part in re.split(r"</?li>|<br ?/?>", found[1]):
                yield html_text(part)


def html_text(text: str) -> str:
    """Return a text without tags."""
    return re.sub(r"<[^>]*>", " ", text).replace("&amp;", "&").replace("&quot;", '"')


def conversations(file: Path) -> Iterator[str]:
    """Yield the lines of ChatterBot's conversations (YAML)."""
    for line in text_of(file).split("\n"):
        found = re.match(r"\s*-\s*(?:-\s*)?(.*)", line)
        if found:
            yield found[1].strip("'\"")


def json_values(*names: str, lines: bool = False) -> Reader:
    """Yield all texts in a JSON file that have one of some names, at any depth."""

    def values(value: object, name: Optional[str]) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from values(inner, key)
        elif isinstance(value, list):
            for inner in value:
                yield from values(inner, name)
        elif isinstance(value, str) and (not names or name in names):
            yield value

    def read(file: Path) -> Iterator[str]:
        text = text_of(file)
        for part in text.splitlines() if lines else [text]:
            if part.strip():
                yield from values(json.loads(part), None)

    return read


def table(*columns: int, comma: bool = False) -> Reader:
    """Yield some columns of a table with tabs, or with commas and quotes."""

    def read(file: Path) -> Iterator[str]:
        csv.field_size_limit(10_000_000)
        text = io.StringIO(text_of(file))
        rows = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
        for row in csv.reader(text) if comma else rows:
            for column in columns:
                if column < len(row):
                    yield from row[column].replace(" <::::> ", "\n").split("\n")

    return read


def questions_of_trivia(file: Path) -> Iterator[str]:
    """Yield the questions of OpenTriviaQA."""
    for found in re.finditer(r"^#Q (.*(?:\n(?!\^).*)*)", text_of(file), re.MULTILINE):
        yield found[1]


def treebank(file: Path) -> Iterator[str]:
    """Return the sentences of a treebank in CoNLL-U."""
    return iter(re.findall(r"^# text = (.*)$", text_of(file), re.MULTILINE))


def medical_answers(file: Path) -> Iterator[str]:
    """Yield the questions and answers of MedQuAD."""
    text = text_of(file)
    for found in re.finditer(r"<(Question|Answer)\b[^>]*>(.*?)</\1>", text, re.DOTALL):
        for paragraph in re.split(r"\n\s*\n|\n\s+-|  {3,}| - ", found[2]):
            yield html_text(paragraph).replace("(are) ", "").replace(" ?", "?")


def zipped(file: Path) -> Iterator[str]:
    """Yield the paragraphs of all texts in a zip file."""
    with zipfile.ZipFile(file) as archive:
        for name in sorted(archive.namelist()):
            if not name.endswith("/") and not name.upper().endswith("README"):
                text = archive.read(name).decode("utf-8", "replace")
                yield from re.split(r"\n\s*\n", text)


def zipped_lines(file: Path) -> Iterator[str]:
    """Yield the lines of all texts in a zip file, without the marks of NLTK's corpora."""
    with zipfile.ZipFile(file) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith("/") or "README" in name.upper():
                continue
            for line in archive.read(name).decode("utf-8", "replace").splitlines():
                if line.startswith(("*", "[t]")):
                    continue
                line = re.sub(r"<[^>]*>", " ", line.rpartition("##")[2])
                words = line.split()
                if all("_" in word for word in words):  # these texts have parts of speech
                    words = [word.rpartition("_")[0] for word in words]
                    words = " ".join(words).replace("` `", '"').replace("' '", '"').split()
                line = re.sub(r'(^| )" ([^"]*?) "(?= |$)', r'\1"\2"', " ".join(words))
                yield detokenize(line)


def days(file: Path) -> Iterator[str]:
    """Yield events by day of the year, without their years."""
    for line in text_of(file).split("\n"):
        yield re.sub(r"^[\d\w ]+ - ", "", line)


def chats(file: Path) -> Iterator[str]:
    """Yield the messages of conversations, except those that a program mostly wrote."""
    for conversation in json.loads(text_of(file)).values():
        texts = [message["text"] for turn in conversation["messages"] for message in turn]
        starts = Counter(text.split(" ")[0] for text in texts)
        if len(texts) < 40 or starts.most_common(1)[0][1] < len(texts) / 2:
            yield from texts


def sword(file: Path) -> Iterator[str]:
    """Yield the verses of a module for SWORD (.bzz, with its .bzs), without titles and notes."""
    data = file.read_bytes()
    places = file.with_suffix(".bzs").read_bytes()
    for start, size, _ in struct.iter_unpack("<3I", places):
        text = zlib.decompress(data[start : start + size]).decode("utf-8", "replace")
        text = re.sub(r"<(note|title)\b[^>]*?(?<!/)>.*?</\1>", " ", text, flags=re.DOTALL)
        for paragraph in re.split(r"</?(?:p|div|l|lg|chapter|br|CM)\b[^>]*>|\n\s*\n", text):
            yield re.sub(r"<[^>]*>", "", paragraph).replace("\0", " ")


def map_messages(file: Path) -> Iterator[str]:
    """Yield the messages of Crossfire's maps: signs, books and what characters say."""
    for found in re.finditer(r"^msg\n(.*?)^endmsg$", text_of(file), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^@match .*|^[*=-]+\n|\n\s*\n", found[1], flags=re.MULTILINE):
            yield re.sub(r"\[/?\w+[^\]]*\]", "", part)


def lines(file: Path) -> Iterator[str]:
    """Return the lines of a text, each a paragraph."""
    return iter(text_of(file).splitlines())


def markdown(file: Path) -> Iterator[str]:
    """Yield the paragraphs and items of a text in Markdown, without its header, code and links."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text_of(file), flags=re.DOTALL)
    text = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\{\{.*?\}\}|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\](?:\((?:[^()]|\([^)]*\))*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.,!?])[*_](?!\w)", "", html_text(text))
    text = re.sub(r"^\s*(?:#+|>|[*+-] |\d+[.)] )", "\n\n", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n", unescape(text)):
        if not block.lstrip().startswith("|"):
            yield block


def stories(file: Path) -> Iterator[str]:
    """Yield the paragraphs of a story in Markdown whose last lines state CC BY or public domain."""
    text = text_of(file)
    if re.search(r"^\* License: \[?(CC[- ]BY|Public Domain)\]?\s*$", text, re.MULTILINE):
        story = text.partition("\n* License:")[0]
        for block in re.split(r"\n\s*\n|\n(?=#)", story):
            yield block.lstrip("# ")


def licensed_posts(file: Path) -> Iterator[str]:
    """Yield the paragraphs of a post in Markdown whose header states CC BY or CC BY-SA."""
    if re.search(r"^license: *CC-BY(-SA)?-\d", text_of(file), re.MULTILINE):
        yield from markdown(file)


def comments(file: Path) -> Iterator[str]:
    """Yield the comments of GoEmotions, without those in which names are masked."""
    for text in table(0)(file):
        if not re.search(r"\[[A-Z]+\]", text):
            yield unescape(text)


def joined_texts(file: Path) -> Iterator[str]:
    """Yield the queries of SNIPS, whose parts are joined."""
    for queries in json.loads(text_of(file)).values():
        for query in queries:
            yield "".join(part["text"] for part in query["data"])


def wikitext(file: Path) -> Iterator[str]:
    """Yield the paragraphs of WikiText, detokenized."""
    for line in text_of(file).splitlines():
        if not line.startswith(" ="):
            line = re.sub(r" @([-,.])@ ", r"\1", line).replace(' " ', ' "')
            yield detokenize(re.sub(r' "([^"]*) "', r' "\1" ', line))


def turns(file: Path) -> Iterator[str]:
    """Yield the cells of a table with commas, without the speakers' names before the lines."""
    csv.field_size_limit(10_000_000)
    for row in csv.reader(io.StringIO(text_of(file))):
        for cell in row:
            for line in cell.splitlines():
                yield re.sub(r"^User \d: *", "", line)


def posts(file: Path) -> Iterator[str]:
    """Yield the titles, posts and comments of Stack Exchange's dumps, without code and quotes."""
    for found in re.finditer(r' (?:Body|Text|Title)="([^"]*)"', text_of(file)):
        text = unescape(found[1])
        text = re.sub(r"<(pre|blockquote)\b.*?</\1>", "\n\n", text, flags=re.DOTALL)
        for block in re.split(r"\n\s*\n|</?(?:p|li|ul|ol|h\d|br|hr) ?/?>", text):
            yield unescape(re.sub(r"<[^>]*>", "", block)).replace("`", "")


def labelled_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a text for fastText, without their labels."""
    for line in text_of(file).splitlines():
        yield re.sub(r"__label__\S+ ?", "", line)


READERS: dict[str, Reader] = {
    "pages": pages,
    "lines": lines,
    "Markdown": markdown,
    "CC BY stories": stories,
    "CC BY posts": licensed_posts,
    "comments": comments,
    "joined texts": joined_texts,
    "paragraphs": paragraphs,
    "info": info,
    "manuals": manuals,
    "messages": messages,
    "quoted": quoted,
    "dictionary": dictionary,
    "glosses": glosses,
    "YAML glosses": yaml_glosses,
    "fortunes": fortunes,
    "descriptions": descriptions,
    "components": components,
    "AIML": dialogues,
    "conversations": conversations,
    "trivia": questions_of_trivia,
    "treebank": treebank,
    "treebank, tokenized": tokenized(treebank),
    "medical answers": medical_answers,
    "zipped texts": zipped,
    "chats": chats,
    "zipped lines": zipped_lines,
    "days": days,
    "SWORD": sword,
    "map messages": map_messages,
    "posts": posts,
    "labelled lines": labelled_lines,
    "WikiText": wikitext,
    "CSV turns": turns,
    "JSON": json_values(),
    "JSON, tokenized": tokenized(json_values()),
    "JSON content, tokenized": tokenized(json_values("content", "query", "answer")),
    "JSON question facts": json_values("question", "facts", "description"),
    "JSON description": json_values("description"),
    "JSON captions": json_values("caption", "negative_caption"),
    "JSON corrected question": json_values("corrected_question"),
    "JSON claim": json_values("claim"),
    "JSON question": json_values("question"),
    "JSON instructions": json_values("instructions"),
    "JSON lines IIW": json_values("IIW", "IIW-P5B", lines=True),
    "JSON lines stem": json_values("stem", "open-ended", lines=True),
    "JSON lines claim": json_values("sentence", "explanation", lines=True),
    "JSON lines question answer": json_values("question", "answer", lines=True),
    "JSON caption": json_values("caption"),
    "JSON extract": json_values("extract"),
    "JSON original": json_values("original"),
    "JSON steps": json_values("steps"),
    "JSON text": json_values("text"),
    "JSON utterance": json_values("utterance"),
    "JSON lines question": json_values("question", lines=True),
    "JSON lines sentence": json_values("sentence", lines=True),
    "tab 1": table(0),
    "tab 2": table(1),
    "all columns, tokenized": tokenized(table(*range(20))),
    "tab 1 to 6": table(0, 1, 2, 3, 4, 5),
    "tab 1, tokenized": tokenized(table(0)),
    "tab 1 2, tokenized": tokenized(table(0, 1)),
    "CSV 4": table(3, comma=True),
    "CSV 2 3 5": table(1, 2, 4, comma=True),
    "CSV 2 3 4": table(1, 2, 3, comma=True),
    "CSV 3 4": table(2, 3, comma=True),
}

BY_NAME = [
    (r"\.info(-\d+)?\.gz$", info),
    (r"/man\d/.*\.gz$", manuals),
    (r"\.(x?html?|page|docbook|cnxml|xml)(\.gz)?$", pages),
    (r"\.mo$", messages),
    (r"\.(cfg|lua|dialog|po)$", quoted),
    (r"\.(txt|text|rst|md|des|TXT)(\.gz)?$|README[^/]*$", paragraphs),
]
"""The readers of files, by regular expressions for file names."""


def reader_of(name: str) -> Optional[Reader]:
    """Return the reader for a file's name."""
    return next((read for form, read in BY_NAME if re.search(form, name)), None)
