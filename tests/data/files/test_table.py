import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.table import Table


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "data.txt"
        path.write_text(content)
        return path

    return write


def values(rows):
    return [row.values for row in rows]


class TestTable:
    names = {"text": "x", "label": "y"}

    @pytest.mark.parametrize(
        ("content", "settings"),
        [
            ('x\ty\n"a, b\tc\n', {}),
            ('x,y\n"""a, b",c\n', {}),
            ('{"x": "\\"a, b", "y": "c"}\n', {}),
            ('\nx;y\n"a, b;c\n', {"delimiter": ";"}),
            ('x ||| y\n"a, b ||| c\n', {"delimiter": " ||| "}),
            ('x\ty\n"""a, b"\tc\n', {"quoted": True}),
            ('x,y\n"""a, b",c\n', {"delimiter": ","}),
        ],
    )
    def test_forms(self, write, content, settings):
        assert values(Table(self.names, **settings).rows(write(content))) == [
            {"x": '"a, b', "y": "c"}
        ]

    def test_no_quoting_in_a_csv(self, write):
        path = write('x,y\n"a,b"\n')
        assert values(Table(self.names, quoted=False).rows(path)) == [{"x": '"a', "y": 'b"'}]

    def test_positions(self, write):
        path = write("a\tb\tc\n")
        assert values(Table({"text": 2, "label": None}).rows(path)) == [{0: "a", 1: "b", 2: "c"}]

    @pytest.mark.parametrize(
        ("columns", "settings", "message"),
        [
            ({"text": "x", "label": 1}, {}, "all columns by name.*or all by position"),
            ({"text": "x"}, {"delimiter": ""}, "delimiter=''"),
            ({"text": "x"}, {"delimiter": "||", "quoted": True}, r"delimiter='\|\|'"),
        ],
    )
    def test_impossible_settings(self, columns, settings, message):
        with pytest.raises(ConfigurationError, match=message):
            Table(columns, **settings)
