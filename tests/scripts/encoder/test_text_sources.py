"""Sources of texts are described, downloaded and checked."""

import dataclasses
import gzip
import hashlib
import io
import lzma
import subprocess
import tarfile
import urllib.error
import zipfile

import pytest

from scripts.encoder import text_sources
from scripts.encoder.read_texts import READERS
from scripts.encoder.text_sources import SOURCES, key, near
from tests.scripts.encoder.conftest import source

pytestmark = pytest.mark.slow  # the program made the package's encoder once

PAGE = b"<p>This is the first page of them.</p><p>There is a dog in it.</p>"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def archive(mode="w"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as written:
        for name, text in (("./doc/a.html", PAGE), ("./doc/b.png", b"no text")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            written.addfile(member, io.BytesIO(text))
    return packed.getvalue()


def test_sentences_are_compared_by_letters_and_digits():
    assert key("It 's a DOG, isn't it?") == key("it's a dog , isn 't it") != key("It is a dog")
    assert near("Page 12 of 345") == near("page 7, of 1") != near("page of")


def test_every_source_is_described_fully():
    assert len({one.name for one in SOURCES}) == len(SOURCES) > 200
    assert len({one.file_name for one in SOURCES}) == len(SOURCES)
    versions = {}
    for one in SOURCES:
        assert len(one.sha256) == 64
        assert one.version
        assert one.licence
        assert one.limit > 0
        assert one.reader in ("", *READERS)
        assert bool(one.path) == (one.origin in ("deb", "apt"))
        # Other indices may change on any day; then no server has their digest.
        assert one.origin != "apt" or one.path.startswith("debian/dists/bookworm/")
        assert one.files or one.origin == "deb"
        versions.setdefault((one.origin, one.package), set()).add(one.version)
        if any(word in one.licence for word in ("GPL", "GFDL", "BY-SA", "MPL")):
            assert one.copyleft, one.name
    assert all(len(one) == 1 for one in versions.values())


class Servers:
    """Answers of Debian's servers."""

    def __init__(self, files):
        self.files = files
        self.asked = []

    def __call__(self, url):
        self.asked.append(url)
        if url not in self.files:
            raise urllib.error.URLError("none")
        return io.BytesIO(self.files[url])


def test_an_older_package_comes_from_the_snapshot(tmp_path, monkeypatch):
    data = archive()
    now, then = (server.format("debian", "pool/a.deb") for server in text_sources.SERVERS)
    servers = Servers({now: b"newer", then: data})
    monkeypatch.setattr(text_sources.urllib.request, "urlopen", servers)
    one = source(sha256=digest(data), path="debian/pool/a.deb")
    one.fetch(tmp_path)
    one.fetch(tmp_path)  # it exists
    assert servers.asked == [now, then]
    assert [file.name for file in one.files_in(one.folder(tmp_path))] == ["a.html"]
    texts = ["There is a dog in it.", "This is the first page of them."]
    assert sorted(one.read(tmp_path)) == texts
    other = source(name="B", sha256="0" * 64, path="debian/pool/a.deb")
    last = digest(data)
    with pytest.raises(ValueError, match=rf"B: no server has .*0000 \(the last one: {last}"):
        other.fetch(tmp_path)
    assert not other.folder(tmp_path).exists()


def test_an_index_is_unpacked(tmp_path, monkeypatch):
    first, _ = text_sources.SERVERS
    servers = Servers({first.format("debian", "a.xz"): lzma.compress(b"one")})
    monkeypatch.setattr(text_sources.urllib.request, "urlopen", servers)
    one = source(
        origin="apt",
        sha256=digest(b"one"),
        path="debian/a.xz",
        files="a",
    )
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/.A").write_bytes(b"on")  # left by a killed download
    one.fetch(tmp_path)
    assert one.folder(tmp_path).read_bytes() == b"one"


@pytest.mark.parametrize("inner", ["repo", "repo/.git"])
def test_a_repository(inner, tmp_path):
    work = tmp_path / "work"
    (work / "docs").mkdir(parents=True)
    (work / "docs/a.html").write_bytes(PAGE)
    (work / "docs/code.py").write_bytes(b"x")
    git = ["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    bare = tmp_path / "clones/o+n" / inner
    bare.parent.mkdir(parents=True)
    (work / ".git").rename(bare)
    right = digest(f"{digest(PAGE)}  docs/a.html\n".encode())
    found = {
        "origin": "git",
        "package": "o+n",
        "version": commit.decode().strip(),
    }
    one = source(**found, sha256=right, files=r"html$")
    one.fetch(tmp_path, tmp_path / "clones")
    assert [file.name for file in one.folder(tmp_path).rglob("*.*")] == ["a.html"]
    assert len(one.read(tmp_path)) == 2
    wrong = dataclasses.replace(one, sha256="0" * 64)
    with pytest.raises(ValueError, match=f"A: o\\+n {one.version} has another SHA-256: {right}"):
        wrong.fetch(tmp_path / "again", tmp_path / "clones")


@pytest.mark.parametrize("origin", ["npm", "pip"])
def test_a_package_of_an_index(origin, tmp_path, monkeypatch):
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as written:
        written.writestr("doc/a.html", PAGE)
    data = gzip.compress(archive(), mtime=0) if origin == "npm" else wheel.getvalue()

    def run(command, check, stdout):
        folder = next(part for part in command if str(tmp_path) in part)
        (text_sources.Path(folder) / "a.tgz").write_bytes(data)
        assert command[-1] == "1"

    monkeypatch.setattr(text_sources.subprocess, "run", run)
    one = source(origin=origin, sha256=digest(data), files="html")
    one.fetch(tmp_path)
    assert len(one.read(tmp_path)) == 2


def test_which_files_of_a_package_are_read(tmp_path):
    one = source()
    for name in (
        "doc/en/a.html",
        "doc/de/a.html",
        "doc/a_fr.html",
        "doc/changelog.html",
        "doc/x.py",
        "locale/de/LC_MESSAGES/a.mo",
        "locale/fr/LC_MESSAGES/a.mo",
    ):
        file = one.folder(tmp_path) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    found = one.files_in(one.folder(tmp_path))
    names = [file.relative_to(one.folder(tmp_path)).as_posix() for file in found]
    assert names == ["doc/en/a.html", "locale/de/LC_MESSAGES/a.mo"]


def test_like_sentences_are_read_once_and_like_starts_seldom(tmp_path):
    folder = source().folder(tmp_path)
    folder.mkdir(parents=True)
    same = [f"There are {i} dogs in it." for i in range(9)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    starts = [f"This is the way of {a}{b}." for a in letters for b in "xy"]
    (folder / "a.txt").write_text("\n\n".join([*same, *starts]))
    (folder / "b.txt.gz").write_bytes(b"\x1f\x8bdamaged")
    read = source(limit=99).read(tmp_path)
    assert len(read) == 1 + text_sources.SAME_START
    assert source(limit=99).read(tmp_path) == read
    assert set(source(limit=3).read(tmp_path)) < set(read)
    assert len(source(limit=99, prose=False).read(tmp_path)) == 1 + len(starts)
