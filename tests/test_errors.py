"""Signatures name the settings of a base class, and all others."""

import inspect
from typing import Any, Optional

import pytest
from allennlp.common import FromParams, Params, Registrable
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.commands import program
from allennlp_sentmatch.errors import inherits_settings


class Base(FromParams):
    def __init__(self, width: int, names: Optional[set[str]] = None, hidden: int = 0) -> None:
        self.settings = (width, names)


class Derived(Base):
    @inherits_settings(Base, without="hidden")
    def __init__(self, width: int, depth: int = 1, **settings: Any) -> None:
        super().__init__(width, **settings)
        self.depth = depth


def test_settings_that_are_handed_on_to_the_base_class():
    made = Derived.from_params(Params({"width": 3, "names": ["b"], "depth": 2}))
    assert made.settings == (3, {"b"})
    assert made.depth == 2
    assert list(inspect.signature(Derived).parameters) == ["width", "depth", "names"]
    for name in ("hidden", "settings", "nams"):
        message = f"Extra parameters passed to Derived: {{'{name}': 1}}"
        wrong = {name: 1}
        with pytest.raises(ConfigurationError, match=message):
            Derived.from_params(Params({"width": 3, **wrong}))
        message = f"^Derived has no setting {name}; its settings are width, depth, names$"
        with pytest.raises(TypeError, match=message):
            Derived(3, **wrong)


class Elsewhere(Derived):
    """A user's subclass, without the decorator."""

    def __init__(self, width: int, height: float = 1.0, **settings: Any) -> None:
        super().__init__(width, **settings)
        self.height = height


class WithoutOwnSettings(Elsewhere):
    pass


class NamesAll(Elsewhere):
    def __init__(self, width: int, glyph: str = "") -> None:
        super().__init__(width, hieght=2)


@pytest.mark.parametrize("kind", [Elsewhere, WithoutOwnSettings])
def test_a_subclass_elsewhere_has_its_own_settings_too(kind):
    message = (
        f"^{kind.__name__} has no setting hieght; its settings are width, height, depth, names"
    )
    with pytest.raises(TypeError, match=message):
        kind(3, hieght=2.0)
    with pytest.raises(TypeError, match=message) as error:
        kind.from_params(Params({"width": 3, "hieght": 2.0}))
    assert program.mistake(error.value) == str(error.value)
    assert kind(3, height=2.0, depth=5).depth == 5


def test_a_mistake_of_a_subclass_that_hands_nothing_on():
    with pytest.raises(TypeError, match=r"NamesAll has no setting hieght; .* are width, glyph$"):
        NamesAll(3)


def test_every_component_names_its_settings_and_fields():
    """The exception is "cached", which reads its embedder's input."""
    checked = []
    for components in Registrable._registry.values():
        for name, (kind, constructor) in components.items():
            # AllenNLP's constructor of trainers takes settings of all kinds.
            if not kind.__module__.startswith("allennlp_sentmatch.") or constructor:
                continue
            functions = [kind, getattr(kind, "forward", kind)]
            for function in functions[: 1 if name == "cached" else 2]:
                parameters = inspect.signature(function).parameters.values()
                assert not [p for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            checked.append(name)
    assert {"sentence_pair", "siamese_classifier", "cas_lstm", "elbis", "encode"} <= set(checked)
