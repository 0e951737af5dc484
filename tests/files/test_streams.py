"""Standard input and output, pipes and devices in the place of a file."""

import io
import os
import sys
import threading
from pathlib import Path

import pytest

from allennlp_sentmatch.files.streams import check_writable, readable_twice, written


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_the_standard_input_is_read_twice(monkeypatch, name):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("ä\nb\n".encode())))
    with readable_twice(name) as path:
        for _ in range(2):
            with open(path, encoding="utf-8") as file:
                assert file.read() == "ä\nb\n"
    assert not os.path.exists(path)


def test_a_pipe_is_read_twice_and_named_in_errors(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a\n",))
    writer.start()
    with readable_twice(str(pipe)) as path:
        assert [Path(path).read_text() for _ in range(2)] == ["a\n"] * 2
    writer.join()
    writer = threading.Thread(target=pipe.write_text, args=("a\n",))
    writer.start()

    def fail():
        with readable_twice(str(pipe)) as path:
            raise ValueError(f"{path}, line 1: wrong")

    with pytest.raises(ValueError, match=rf"^{pipe}, line 1: wrong$"):
        fail()
    writer.join()


def test_a_file_stays_where_it_is(tmp_path):
    for path in (tmp_path / "file", tmp_path, tmp_path / "absent"):
        with readable_twice(str(path)) as same:
            assert same == str(path)
        (tmp_path / "file").touch()


def test_what_can_be_written(tmp_path, capsys):
    for stream in ("-", "/dev/stdout", os.devnull):
        check_writable(stream)
        with written(stream) as output:
            output.write("é\n")
    assert capsys.readouterr().out == "é\né\n"
    path = tmp_path / "file"
    with written(str(path)) as output:
        output.write("é\n")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "é\n"
    with pytest.raises(ValueError, match="exists already; delete it"):
        check_writable(str(path))
    with pytest.raises(ValueError, match="exists already"):
        check_writable(str(tmp_path))
