"""Write the quick-start data: sentence pairs from a small grammar, the same in every run.

    python scripts/make_quick_start_data.py fixtures/quick_start

A premise is a scene: somebody does something to something somewhere, sometimes with a detail. Its
hypotheses:

- entailment: the same scene in more general words (a poodle is a dog, dragging is moving), with
  parts left out;
- contradiction: one part replaced by one that excludes it (another kind of creature or thing, the
  opposite action or place), or the whole scene denied;
- neutral: a detail that the premise does not mention (a reason, a beneficiary, a time).

All forms of sentences and nearly all words occur with all three labels, so that a hypothesis cannot
be classified without its premise. Each premise is in only one of the three files.
"""

import argparse
import random
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SIZES = {"train": 4500, "validation": 600, "test": 600}
LABELS = ["entailment", "contradiction", "neutral"]

# A word and what it is a kind of. Two words with different kinds exclude each other.
CREATURES = {
    "poodle": "dog",
    "terrier": "dog",
    "kitten": "cat",
    "tomcat": "cat",
    "pony": "horse",
    "stallion": "horse",
    "father": "man",
    "waiter": "man",
    "mother": "woman",
    "actress": "woman",
    "toddler": "child",
    "schoolboy": "child",
}
THINGS = {
    "apple": "fruit",
    "banana": "fruit",
    "carrot": "vegetable",
    "cabbage": "vegetable",
    "rose": "flower",
    "tulip": "flower",
    "novel": "book",
    "dictionary": "book",
    "violin": "instrument",
    "trumpet": "instrument",
}
# Two kinds of action that exclude each other, each with two ways of doing it.
ACTIONS = {
    "moving": ("dragging", "carrying"),
    "guarding": ("defending", "watching over"),
    "hiding": ("burying", "covering up"),
    "displaying": ("showing off", "holding up"),
    "damaging": ("breaking", "scratching"),
    "improving": ("repairing", "polishing"),
}
EXCLUDES = {
    "moving": "guarding",
    "hiding": "displaying",
    "damaging": "improving",
    "guarding": "moving",
    "displaying": "hiding",
    "improving": "damaging",
}
PLACES = {
    "indoors": ("in the kitchen", "in the attic"),
    "outdoors": ("in the garden", "on the beach"),
}
ADJECTIVES = ["small", "large", "young", "quiet", "hungry", "friendly"]
COLORS = ["red", "yellow", "white", "purple"]
DETAILS = [
    "because it is late",
    "for a friend",
    "before dinner",
    "after a long day",
    "on the first day of spring",
    "for the third time",
]


class Scene(NamedTuple):
    """The parts of a premise."""

    adjective: str
    creature: str
    action: str
    color: str
    thing: str
    place: str
    detail: str

    def premise(self) -> str:
        """The premise with all parts of the scene."""
        return sentence(
            f"a {self.adjective} {self.creature} is {self.action} a {self.color} {self.thing}",
            self.place,
            self.detail,
        )


class Claim(NamedTuple):
    """The parts of a hypothesis: those of the scene that are left, in other words."""

    creature: str
    action: str
    thing: str
    place: str
    detail: str

    def hypothesis(self, form: str) -> str:
        """The claim as a plain sentence, or with one part emphasized."""
        creature, thing = with_article(self.creature), with_article(self.thing)
        if form == "creature":
            return sentence(
                "the one", self.action, "something", self.place, self.detail, "is", creature
            )
        if form == "thing":
            return sentence(
                "the thing that somebody is", self.action, self.place, self.detail, "is", thing
            )
        if form == "nobody":
            return sentence("nobody is", self.action, thing, self.place, self.detail)
        return sentence(creature, "is", self.action, thing, self.place, self.detail)


def with_article(noun: str) -> str:
    """The noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def sentence(*parts: str) -> str:
    """The parts as a sentence."""
    text = " ".join(part for part in parts if part)
    return f"{text[0].upper()}{text[1:]}."


def kind_of(word: str, kinds: Mapping[str, tuple[str, ...]]) -> str:
    """The kind that the word belongs to."""
    return next(kind for kind, members in kinds.items() if word in members)


def general_claim(scene: Scene, rng: random.Random) -> Claim:
    """The scene in the same or more general words, with parts left out: always entailed."""
    return Claim(
        creature=rng.choice([scene.creature, CREATURES[scene.creature]]),
        action=rng.choice([scene.action, kind_of(scene.action, ACTIONS)]),
        thing=rng.choice([scene.thing, THINGS[scene.thing]]),
        place=rng.choice(["", scene.place, kind_of(scene.place, PLACES)]),
        detail=rng.choice(["", scene.detail]),
    )


def entailment(scene: Scene, rng: random.Random) -> str:
    """A hypothesis that the scene entails."""
    claim, form = general_claim(scene, rng), rng.choice(["plain", "creature", "thing", "nobody"])
    if form == "nobody":  # nobody does the opposite
        opposite = EXCLUDES[kind_of(scene.action, ACTIONS)]
        claim = claim._replace(action=rng.choice([opposite, *ACTIONS[opposite]]))
    return claim.hypothesis(form)


def contradiction(scene: Scene, rng: random.Random) -> str:
    """A hypothesis that excludes the scene."""
    claim = general_claim(scene, rng)
    form = rng.choice(["plain", "creature", "thing", "nobody"])
    change = {"creature": "creature", "thing": "thing", "nobody": "", "plain": "action"}[form]
    if form != "nobody" and claim.place and rng.random() < 0.5:
        change = "place"
    if change == "creature":
        others = sorted(set(CREATURES.values()) - {CREATURES[scene.creature]})
        claim = claim._replace(creature=rng.choice(others))
    elif change == "thing":
        others = sorted(set(THINGS.values()) - {THINGS[scene.thing]})
        claim = claim._replace(thing=rng.choice(others))
    elif change == "action":
        opposite = EXCLUDES[kind_of(scene.action, ACTIONS)]
        claim = claim._replace(action=rng.choice([opposite, *ACTIONS[opposite]]))
    elif change == "place":
        opposite = "outdoors" if scene.place in PLACES["indoors"] else "indoors"
        claim = claim._replace(place=rng.choice([opposite, *PLACES[opposite]]))
    return claim.hypothesis(form)


def neutral(scene: Scene, rng: random.Random) -> str:
    """A hypothesis that the scene neither entails nor excludes: it has a detail of its own."""
    detail = rng.choice([detail for detail in DETAILS if detail != scene.detail])
    claim = general_claim(scene, rng)._replace(detail=detail)
    return claim.hypothesis(rng.choice(["plain", "creature", "thing"]))


def make_pairs(count: int, seen: set[Scene], rng: random.Random) -> list[tuple[str, str, str]]:
    """`count` pairs whose scenes are not in `seen`, to which they are added."""
    hypothesis = {
        "entailment": entailment,
        "contradiction": contradiction,
        "neutral": neutral,
    }
    pairs: list[tuple[str, str, str]] = []
    while len(pairs) < count:
        scene = Scene(
            rng.choice(ADJECTIVES),
            rng.choice(sorted(CREATURES)),
            rng.choice([way for ways in ACTIONS.values() for way in ways]),
            rng.choice(COLORS),
            rng.choice(sorted(THINGS)),
            rng.choice([place for places in PLACES.values() for place in places]),
            rng.choice(["", *DETAILS]),
        )
        if scene in seen:
            continue
        seen.add(scene)
        label = LABELS[len(pairs) % len(LABELS)]
        pairs.append((scene.premise(), hypothesis[label](scene, rng), label))
    return pairs


def main() -> None:
    """Write train.tsv, validation.tsv and test.tsv into the folder of the command line."""
    parser = argparse.ArgumentParser(description="Write the quick-start data.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(2019)
    seen: set[Scene] = set()
    for split, size in SIZES.items():
        rows = ["sentence1\tsentence2\tlabel"]
        rows.extend("\t".join(pair) for pair in make_pairs(size, seen, rng))
        (folder / f"{split}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
