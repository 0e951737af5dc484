"""Rows cut from a file with their quotes, line ends and blank lines."""

import pytest

from allennlp_sentmatch.files.rows_as_written import rows_as_written


@pytest.mark.parametrize(
    ("content", "first_lines", "header", "rows"),
    [
        ("id,t\n1,a\n2,b\n", [2, 3], "id,t\n", ["1,a\n", "2,b\n"]),
        ("id,t\r\n1,a\r\n2,b", [2, 3], "id,t\r\n", ["1,a\r\n", "2,b\r\n"]),
        ('id,t\n1,"a\n\n, b"\n\n \n2,c\n\n', [2, 7], "id,t\n", ['1,"a\n\n, b"\n', "2,c\n"]),
        ('\n{"t": "a"}\n{"t": "b"}', [2, 3], "", ['{"t": "a"}\n', '{"t": "b"}\n']),
        ("\ufeffid\tt\n1\t\u00e4\n", [2], "id\tt\n", ["1\t\u00e4\n"]),
    ],
)
def test_rows(tmp_path, content, first_lines, header, rows):
    path = tmp_path / "table"
    path.write_bytes(content.encode())
    assert rows_as_written(path, first_lines) == (header, rows)
    path.write_bytes(content.encode("utf-16" if content[0] != "\ufeff" else "utf-16-le"))
    assert rows_as_written(path, first_lines) == (header, rows)
