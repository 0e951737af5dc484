"""Make pairs of sentences whose meaning depends on a word or two, the same in every run.

A pair means the same or not, and its sentences share most of their words: a negation and the
opposite word, the active and the passive voice, a number as a word and in digits. Each scene has
two pairs of either label; with roles, two for each direction. `scene` numbers the scenes, so that
training and test pairs need not share one.
"""

from collections.abc import Iterator
from itertools import combinations

# Opposites that exclude each other, without anything in between.
OPPOSITES = {
    "door window shop gate": ("open", "closed"),
    "lamp radio heater": ("on", "off"),
    "baby guard patient": ("awake", "asleep"),
    "fish bird soldier": ("alive", "dead"),
    "answer translation": ("right", "wrong"),
    "seat room bathroom": ("free", "occupied"),
    "witness suspect": ("present", "absent"),
    "story rumor": ("true", "false"),
    "bus train": ("late", "on time"),
}
ACTIONS = {
    ("chases", "chased"): ("dog", "cat", "fox"),
    ("calls", "called"): ("doctor", "teacher", "lawyer"),
    ("follows", "followed"): ("bus", "truck", "taxi"),
    ("praises", "praised"): ("singer", "painter", "poet"),
    ("pushes", "pushed"): ("boy", "girl"),
    ("defeats", "defeated"): ("king", "queen"),
}
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COUNTED = {
    "men": "waiting at the station",
    "dogs": "playing in the garden",
    "children": "swimming in the lake",
    "women": "talking in the kitchen",
    "boats": "leaving the harbor",
    "students": "reading in the library",
    "birds": "sitting on the roof",
    "cars": "standing in the street",
}


def negation() -> Iterator[list[tuple[str, str, str]]]:
    """Yield the scenes of negation, each with its first and second sentences and their labels."""
    for things, (one, other) in OPPOSITES.items():
        for thing in things.split():
            start = f"The {thing} is"
            yield [
                (f"{start} {one}.", f"{start} not {other}.", "same"),
                (f"{start} {other}.", f"{start} not {one}.", "same"),
                (f"{start} {one}.", f"{start} not {one}.", "different"),
                (f"{start} {other}.", f"{start} {one}.", "different"),
            ]


def roles() -> Iterator[list[tuple[str, str, str]]]:
    """Yield the scenes of exchanged roles, in both directions.

    Most pairs of one direction are, in the other order of their sentences, pairs of the other one.
    """
    for (active, passive), creatures in ACTIONS.items():
        for creature, another in combinations(creatures, 2):
            scene = []
            for one, other in ((creature, another), (another, creature)):
                first = f"The {one} {active} the {other}."
                scene += [
                    (first, f"The {other} is {passive} by the {one}.", "same"),
                    (
                        f"The {one} is {passive} by the {other}.",
                        f"The {other} {active} the {one}.",
                        "same",
                    ),
                    (first, f"The {other} {active} the {one}.", "different"),
                    (first, f"The {one} is {passive} by the {other}.", "different"),
                ]
            yield scene


def numbers() -> Iterator[list[tuple[str, str, str]]]:
    """Yield the scenes of changed numbers."""
    for index, (things, doing) in enumerate(COUNTED.items()):
        for step in (0, 1, 2):
            word, changed = (NUMBERS[(index + 3 * step + i) % len(NUMBERS)] for i in (0, 2 + step))
            digits, others = (NUMBERS.index(number) + 2 for number in (word, changed))
            first = f"{word.capitalize()} {things} are {doing}."
            yield [
                (first, f"{digits} {things} are {doing}.", "same"),
                (first, f"There are {digits} {things} {doing}.", "same"),
                (first, f"{others} {things} are {doing}.", "different"),
                (first, f"There are {changed} {things} {doing}.", "different"),
            ]


def rows() -> Iterator[tuple[str, int, str, str, str]]:
    """Yield each pair's kind, scene, first and second sentence, and label."""
    scene = 0
    for kind in (negation, roles, numbers):
        for pairs in kind():
            scene += 1
            for pair in pairs:
                yield (kind.__name__, scene, *pair)
