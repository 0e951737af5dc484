"""Folders that appear as a whole."""

import errno
import os
import sys

import pytest
import torch

from allennlp_sentmatch.standalone import StandaloneEncoder, files
from allennlp_sentmatch.standalone.files import written_folder
from tests.standalone.test_encoder import WORDS, make


def killed_while(step, action):
    """The status of a child process that ends without warning before its nth file operation."""
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


@pytest.mark.skipif(sys.platform != "linux", reason="two folders are exchanged in one step")
def test_a_kill_leaves_the_old_encoder_or_the_new_one(tmp_path):
    encoder, folder = make(), tmp_path / "encoder"
    vectors = encoder.encode(WORDS)
    encoder.save(folder)
    (folder / "README.md").write_text("kept")
    # The same tensors for other words: a mixture is loaded without an error.
    encoder.words = [*WORDS[:2], WORDS[3], WORDS[2], *WORDS[4:]]
    expected = {tuple(WORDS): vectors, tuple(encoder.words): vectors[[0, 1, 3, 2, 4]]}
    found = []
    for step in range(100):
        status = killed_while(step, lambda: encoder.save(folder))
        loaded = StandaloneEncoder.load(folder)
        torch.testing.assert_close(loaded.encode(WORDS), expected[tuple(loaded.words)])
        assert (folder / "README.md").read_text() == "kept"
        found.append(loaded.words == encoder.words)
        if status == 0:
            break
    assert found == sorted(found)
    assert 4 < found.index(True) < 99


def write(folder, content="new", **options):
    with written_folder(folder, **options) as temporary:
        (temporary / "settings").write_text(content)
        (temporary / content).touch()


@pytest.mark.parametrize("in_one_step", [True, False])
def test_what_is_replaced(tmp_path, monkeypatch, in_one_step):
    if not in_one_step:
        monkeypatch.setattr(files.ctypes, "CDLL", None)
    folder, link = tmp_path / "deep" / "folder", tmp_path / "link"
    write(folder)
    link.symlink_to(folder)
    for occupied in (folder, folder / "new"):
        with pytest.raises(ValueError, match=r"exists already; delete it or name another folder"):
            write(occupied)
    with pytest.raises(ValueError, match="exists already"):
        write(folder, replaces="other")
    (folder / "sub").mkdir()
    (folder / "sub" / "file").touch()
    write(link, "newer", replaces="settings")
    assert link.is_symlink()
    assert (folder / "settings").read_text() == "newer"
    assert {file.name for file in folder.rglob("*")} == {"settings", "new", "newer", "sub", "file"}
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    assert {file.name for file in tmp_path.iterdir()} == {"deep", "empty", "link"}
    assert list(folder.parent.iterdir()) == [folder]
    assert os.stat(folder).st_mode & 0o777 == os.stat(folder.parent).st_mode & 0o777


def test_of_two_writers_one_fails(tmp_path):
    def both(**options):
        with written_folder(tmp_path / "folder", **options) as temporary:
            (temporary / "settings").write_text("late")
            write(tmp_path / "folder", "early", **options)

    with pytest.raises(ValueError, match="folder exists already"):
        both()
    with pytest.raises(ValueError, match=r"another process has written .*folder in the meantime"):
        both(replaces="settings")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]
    assert (tmp_path / "folder" / "settings").read_text() == "early"


def test_a_full_disk(tmp_path):
    write(tmp_path / "folder")

    def fill_disk():
        folder = tmp_path / "folder"
        with written_folder(folder, "settings") as outer, written_folder(outer / "in") as inner:
            (inner / "tensors").write_text("half of th")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match=r"No space left.*'[^']*/folder/in/tensors'"):
        fill_disk()
    assert {file.name for file in tmp_path.rglob("*")} == {"folder", "settings", "new"}
