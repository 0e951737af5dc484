"""Errors about the parameters of Jsonnet functions."""

import _jsonnet
import pytest

from allennlp_sentmatch.commands.jsonnet_functions import parameters, unknown_parameter
from tests.conftest import REPOSITORY

HEADER = """// function(of a comment)
local other = import 'other.libsonnet';
function(
  // an argument
  train='a,b)(.tsv',
  sizes=[1, { a: (2) }],
  name="it's",
  last=if true then 1 else 2,
) { a: train }
"""


def test_names_of_parameters():
    assert parameters(HEADER) == ["train", "sizes", "name", "last"]
    assert parameters("{ a: 1 }") == []
    assert parameters("function() 1") == []


@pytest.mark.parametrize("path", sorted((REPOSITORY / "training_config").glob("own_*.jsonnet")))
def test_the_parameters_of_our_configurations(path):
    """Jsonnet accepts all of them by name."""
    names = parameters(path.read_text("utf-8"))
    assert "train" in names
    arguments = ", ".join(f"{name}=null" for name in names)
    call = f"std.length(std.toString(std.type((import '{path}')({arguments}))))"
    assert _jsonnet.evaluate_snippet("", call)


def test_an_unknown_parameter(tmp_path):
    (tmp_path / "own.jsonnet").write_text(HEADER)
    sources = [("(import 'missing.jsonnet')() + (import \"own.jsonnet\")(tran=1)", tmp_path)]
    assert unknown_parameter("function has no parameter tran", sources) == (
        "own.jsonnet has no parameter 'tran': did you mean 'train'?; its parameters are train, "
        "sizes, name, last"
    )
    assert unknown_parameter("function has no parameter tran", []) == ""
    assert unknown_parameter("max stack frames exceeded.", sources) == ""
