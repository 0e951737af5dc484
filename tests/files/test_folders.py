"""Folders that appear as a whole."""

import errno
import gzip
import json
import os
import sys
from pathlib import Path

import pytest

from allennlp_sentmatch.corpora.corpus import encode_corpus
from allennlp_sentmatch.files.folders import (
    check_absent,
    write_json,
    written_folder,
    written_text,
)
from allennlp_sentmatch.standalone import StandaloneEncoder
from tests.estimators.tiny_encoder import tiny_encoder
from tests.standalone.test_encoder import WORDS, make


def killed_while(step, action):
    """The status of a child process that is killed before its nth file operation."""
    child = os.fork()
    if child == 0:
        left = [step]

        def end_suddenly(event, _):
            if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir"):
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)

        sys.addaudithook(end_suddenly)
        action()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_kill_leaves_no_encoder_or_a_whole_one(tmp_path):
    for step in range(100):
        folder = tmp_path / str(step)
        status = killed_while(step, lambda folder=folder: make().save(folder))
        if status == 0:
            break
        assert not folder.exists()
    assert StandaloneEncoder.load(folder).words == WORDS
    assert 4 < step < 99


def write(folder):
    with written_folder(folder) as temporary:
        (temporary / "settings").write_text("new")


def test_where_a_folder_is_written(tmp_path, monkeypatch):
    folder = tmp_path / "deep" / "folder"
    link = tmp_path / "link"
    write(folder)
    for occupied in (folder, folder / "settings"):
        with pytest.raises(ValueError, match=r"exists already; delete it or name another folder"):
            write(occupied)
    (tmp_path / "empty").mkdir()
    link.symlink_to(tmp_path / "empty")
    with monkeypatch.context() as patch:
        patch.chdir(link)
        with pytest.raises(ValueError, match="is the current folder"):
            write(".")
    write(link)
    assert link.is_symlink()
    assert [file.name for file in (tmp_path / "empty").iterdir()] == ["settings"]
    assert {file.name for file in tmp_path.iterdir()} == {"deep", "empty", "link"}
    assert list(folder.parent.iterdir()) == [folder]
    assert os.stat(folder).st_mode & 0o777 == os.stat(folder.parent).st_mode & 0o777


def test_of_two_writers_one_fails(tmp_path):
    def both():
        with written_folder(tmp_path / "folder") as temporary:
            (temporary / "settings").write_text("late")
            write(tmp_path / "folder")

    with pytest.raises(ValueError, match="folder exists already"):
        both()
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]
    assert (tmp_path / "folder" / "settings").read_text() == "new"


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_text_that_is_not_whole_is_not_there(tmp_path, error):
    (tmp_path / "link").symlink_to("text")

    def write_half():
        with written_text(tmp_path / "link") as file:
            file.write("half of th")
            raise error

    with pytest.raises(type(error)) as raised:
        write_half()
    assert not isinstance(error, OSError) or raised.value.filename == str(tmp_path / "link")
    assert [*tmp_path.iterdir()] == [tmp_path / "link"]
    with written_text(tmp_path / "link") as file:
        file.write("é\n")
    assert (tmp_path / "text").read_bytes() == b"\xc3\xa9\n"
    with pytest.raises(ValueError, match="link exists already"), written_text(tmp_path / "link"):
        pass


def test_a_compressed_text_has_its_own_name(tmp_path):
    """Programs restore the name after the ten bytes of the header (RFC 1952)."""
    with written_text(tmp_path / "text.csv.gz") as file:
        file.write("é\n")
    content = (tmp_path / "text.csv.gz").read_bytes()
    assert content[10:].startswith(b"text.csv\0")
    assert gzip.decompress(content) == b"\xc3\xa9\n"


def test_of_two_writers_of_a_text_the_second_fails(tmp_path):
    def write_twice():
        with written_text(tmp_path / "text"):
            (tmp_path / "text").write_text("of another process")

    with pytest.raises(ValueError, match="text exists already"):
        write_twice()
    assert (tmp_path / "text").read_text() == "of another process"
    assert [*tmp_path.iterdir()] == [tmp_path / "text"]


def test_a_full_disk(tmp_path):
    def fill_disk():
        with written_folder(tmp_path / "folder") as outer, written_folder(outer / "in") as inner:
            (inner / "tensors").write_text("half of th")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match=r"No space left.*'[^']*/folder/in/tensors'"):
        fill_disk()
    assert not list(tmp_path.iterdir())


def test_nobody_is_told_to_delete_a_device():
    message = "^/dev/null is a pipe or a device; name a new file$"
    with pytest.raises(ValueError, match=message):
        check_absent("/dev/null")
    with pytest.raises(ValueError, match=message):
        encode_corpus(tiny_encoder(), lambda: iter(["a cat"]), "/dev/null")


def test_a_read_only_folder_is_refused_before_a_file_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    with pytest.raises(ValueError, match=r"the folder of .*/kept\.txt .* nothing may be written"):
        check_absent(tmp_path / "kept.txt")


def test_json_replaces_a_file_once_it_is_whole(tmp_path, monkeypatch):
    """A study's report is written again by each call."""
    file = tmp_path / "study.json"
    write_json(file, {"best": 1})

    def fill_the_disk(path, text, encoding):
        path.write_bytes(text[:5].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", fill_the_disk)
        with pytest.raises(OSError, match=r"No space left on device: '.*study\.json'$"):
            write_json(file, {"best": 2})
    assert [*tmp_path.iterdir()] == [file]
    assert json.loads(file.read_text()) == {"best": 1}
