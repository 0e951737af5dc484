import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.tables import Table


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

    def test_the_remedy_for_a_missing_column_is_null_only_where_that_is_allowed(self, write):
        path = write("x\tz\na\tb\n")
        for optional, ending in (
            ((), "'label'"),
            (("label",), "(null there if the file has no su"),
        ):
            with pytest.raises(ConfigurationError) as error:
                list(Table(self.names, optional=optional).rows(path))
            assert ending in str(error.value).partition("name it in the setting ")[2]
            assert ("null" in str(error.value)) is bool(optional)

    @pytest.mark.parametrize("delimiter", [";", "|"])
    @pytest.mark.parametrize("columns", [{"text": "x", "label": "y"}, {"text": 0, "label": 1}])
    def test_another_delimiter_than_the_expected(self, write, delimiter, columns):
        path = write(f'"x"{delimiter}y\na, b{delimiter}c\n')
        with pytest.raises(ConfigurationError) as error:
            list(Table(columns).rows(path))
        assert str(error.value) == (
            f"{path}: the columns are separated by {delimiter!r}, it seems; set `delimiter` "
            f"(of a command: --delimiter) to {delimiter!r}"
        )
        assert len(list(Table(columns, delimiter=delimiter, quoted=True).rows(path))) > 0

    @pytest.mark.parametrize("content", ['[{"x": 1}]', '[\n{"x": 1}\n]\n', '\n [ {"x": 1},\n'])
    def test_a_json_array(self, write, content):
        with pytest.raises(ConfigurationError, match=r"data\.txt, line \d: .*jq -c '\.\[\]'"):
            list(Table(self.names).rows(write(content)))

    def test_a_text_that_begins_with_a_bracket(self, write):
        path = write("[a] b\tc\n")
        assert values(Table({"text": 0, "label": 1}).rows(path)) == [{0: "[a] b", 1: "c"}]

    @pytest.mark.parametrize("content", ["x\nb\n", '{"x": "a", "y": "b"}\n{"x": "a"}\n'])
    def test_a_column_that_is_missing_is_named_with_its_setting(self, write, content):
        message = "line 2: there is no column 'y'; the columns are 'x'; name it in .* 'label'"
        with pytest.raises(ConfigurationError, match=message):
            list(Table(self.names).rows(write(content)))
