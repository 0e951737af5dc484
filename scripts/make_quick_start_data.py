"""Write the quick-start data: sentence pairs from a grammar, the same in every run.

    python scripts/make_quick_start_data.py fixtures/quick_start

A premise is a scene: somebody does something, with some details (a place, a time, a companion, a
plan, how somebody is or what something is like). A hypothesis is about one part of the scene:

- entailment: the same in the same or more general words (a poodle is an animal, slicing is cutting;
  somebody, something), with the rest left out; or the opposite, denied;
- contradiction: that part replaced by one that excludes it (another kind of creature or thing, the
  opposite action, place or quality), exchanged roles, or the part denied;
- neutral: a part that the premise does not mention, or more special words than it has.

Nearly all forms of sentences and words occur with all three labels, so that a hypothesis cannot be
classified without its premise. Each premise is in only one of the three files.
"""

import argparse
import random
from pathlib import Path
from typing import Any, NamedTuple

SIZES = {"train": 4500, "validation": 600, "test": 600}


def table(text: str) -> dict[str, list[str]]:
    """The lists of lines such as `dog: poodle, terrier`."""
    rows = (line.split(": ") for line in text.strip().splitlines())
    return {name.strip(): words.split(", ") for name, words in rows}


# Kinds, which exclude each other, and their members.
CREATURES = table(
    """
    man: waiter, grandfather, fisherman, king, monk, uncle, businessman, husband
    woman: actress, grandmother, queen, bride, aunt, waitress, mother, princess
    child: boy, girl, toddler, pupil, schoolboy, baby
    dog: poodle, terrier, puppy, bulldog
    cat: kitten, tomcat
    horse: pony, stallion, mare
    bird: parrot, eagle, duck, swan, owl
    """
)
PEOPLE = ["man", "woman", "child"]
THINGS = table(
    """
    fruit: apple, banana, pear, plum, lemon, melon
    vegetable: carrot, cabbage, potato, tomato, cucumber
    drink: tea, milk, lemonade, beer, cocoa, wine
    flower: rose, tulip, daisy, lily
    book: novel, dictionary, cookbook, diary
    instrument: violin, trumpet, drum, flute, guitar
    vehicle: car, truck, bus, van, bicycle, tractor
    tool: hammer, saw, spade, screwdriver
    container: box, bag, suitcase, basket, bottle
    garment: coat, shirt, scarf, sweater, dress
    building: house, barn, tower, castle, hotel
    toy: doll, ball, kite, puzzle
    """
)
# What somebody does: the general word, more special ones, and the actions that exclude it.
ACTIVITIES = table(
    """
    sleeping: napping, dozing, snoring
    running: jogging, sprinting, racing
    walking: strolling, hiking, marching
    swimming: diving, bathing
    jumping: hopping, leaping
    fighting: wrestling, boxing
    sitting: sitting on a bench, sitting down
    standing: standing still, standing up
    dancing: waltzing, dancing a tango
    talking: whispering, chatting, arguing
    singing: humming, singing a song
    laughing: giggling, chuckling
    crying: weeping, sobbing
    working: working hard, working late
    playing: playing a game, playing cards
    """
)
OF_ANIMALS = ["sleeping", "running", "walking", "swimming", "jumping", "fighting"]
EXCLUSIVE = [
    [*OF_ANIMALS, "sitting", "standing", "dancing"],
    ["sleeping", "laughing", "crying"],
    ["sleeping", "talking", "singing"],
    ["sleeping", "working", "playing"],
]
# An action, special ways of it, its opposite, and what it can be done to.
ACTIONS = {
    "cutting": ("slicing, chopping, peeling", "growing", "fruit vegetable flower"),
    "growing": ("planting, watering", "cutting", "fruit vegetable flower"),
    "eating": ("devouring, nibbling, tasting", "throwing away", "fruit vegetable"),
    "drinking": ("sipping, gulping down", "pouring away", "drink"),
    "cleaning": ("washing, scrubbing, polishing", "soiling", "vehicle tool container garment"),
    "moving": ("dragging, carrying, lifting", "leaving behind", "container tool toy instrument"),
    "breaking": ("smashing, wrecking", "fixing", "instrument vehicle tool toy"),
    "fixing": ("repairing, mending", "breaking", "instrument vehicle tool toy"),
    "buying": ("ordering, purchasing", "selling", "vehicle garment flower book instrument"),
    "selling": ("auctioning, trading", "buying", "vehicle garment flower book instrument"),
    "hiding": ("burying, covering up", "showing", "book toy container flower"),
    "showing": ("displaying, holding up", "hiding", "book toy container flower"),
    "opening": ("unlocking, unpacking", "closing", "container book building"),
    "closing": ("locking, shutting", "opening", "container book building"),
    "constructing": (
        "assembling, putting together",
        "destroying",
        "building vehicle instrument toy",
    ),
    "destroying": ("demolishing, burning", "constructing", "building vehicle instrument toy"),
    "reading": ("studying, leafing through", "writing", "book"),
    "driving": ("steering, maneuvering", "parking", "vehicle"),
    "losing": ("mislaying, dropping", "finding", "book toy tool garment container"),
    "finding": ("discovering, picking up", "losing", "book toy tool garment container"),
    "putting on": ("trying on, buttoning", "taking off", "garment"),
}
# What one creature does to another one, and its opposite.
RELATIONS = {
    "chasing": "running away from",
    "following": "leading",
    "kissing": "ignoring",
    "hitting": "stroking",
    "feeding": "taking food from",
    "helping": "hindering",
    "watching": "ignoring",
    "calling": "ignoring",
    "catching": "letting go of",
    "carrying": "dropping",
}
PLACES = table(
    """
    inside: in the kitchen, in the attic, in the office, in a library, in the living room, in a hall
    outside: in the garden, on the beach, in the street, in a forest, in a field, on a mountain
    """
)
TIMES = table(
    """
    during the day: in the morning, at noon, in the afternoon, before lunch
    at night: at midnight, in the dark, after sunset, late in the evening
    """
)
COMPANY = table(
    """
    alone: without help, without company
    with others: with a friend, with some neighbors, together with a partner, in a group
    """
)
# Qualities with their opposites: of creatures, of things, of things of some kinds.
MOODS = """happy sad, hungry full, curious bored, rich poor, old young, angry calm, sick healthy,
famous unknown, brave scared, thin fat, wet dry, quiet loud, friendly rude, lazy busy"""
QUALITIES = """big small, new old, clean dirty, heavy light, cheap expensive, beautiful ugly,
wet dry, red green, blue yellow, black white"""
PLANS = [
    *("win a prize", "earn some money", "surprise a friend", "visit a doctor", "catch a train"),
    *("paint a picture", "write a poem", "learn a language", "become famous", "go to a concert"),
    *("move to the city", "impress the neighbors", "leave tomorrow", "meet a cousin"),
]
PLURALS = {"child": "children", "man": "men", "woman": "women", "person": "people"}
PLURALS.update(fisherman="fishermen", businessman="businessmen", baby="babies")
NUMBERS = ["two", "three", "four", "five", "six"]


SPECIAL_ACTIONS = {action: words.split(", ") for action, (words, *_) in ACTIONS.items()}
GENERAL = {
    word: kind
    for kinds in (CREATURES, THINGS, ACTIVITIES, SPECIAL_ACTIONS, PLACES, TIMES, COMPANY)
    for kind, words in kinds.items()
    for word in words
}
OPPOSITES = {
    **{one: other for one, (_, other, _) in ACTIONS.items()},
    **RELATIONS,
    **{
        word: other
        for pair in f"{MOODS}, {QUALITIES}".replace("\n", " ").split(", ")
        for word, other in (pair.split(), pair.split()[::-1])
    },
}
DETAILS = ["place", "time", "company", "mood", "quality", "plan"]


class Scene(NamedTuple):
    """What a premise tells. `thing` may be another creature, or "" where there is none."""

    creature: str
    number: str
    action: str
    thing: str
    details: dict[str, str]

    def premise(self) -> str:
        """The sentence with all parts of the scene."""
        details = dict.fromkeys(DETAILS, "") | self.details
        return sentence(
            counted(join(details["mood"], self.creature), self.number),
            be(self.number),
            self.action,
            with_article(join(details["quality"], self.thing)) if self.thing else "",
            *(details[name] for name in ("place", "company", "time")),
            f"hoping to {details['plan']}" if details["plan"] else "",
        )


def join(*parts: str) -> str:
    """The parts that are not empty, with spaces between them."""
    return " ".join(part for part in parts if part)


def sentence(*parts: str) -> str:
    """The parts as a sentence."""
    text = join(*parts)
    return f"{text[0].upper()}{text[1:]}."


def with_article(noun: str) -> str:
    """The noun, perhaps after an adjective, with its indefinite article."""
    if noun.split()[-1] in ("drink", *THINGS["drink"]):
        return f"some {noun}"
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def counted(noun: str, number: str) -> str:
    """The noun with a number or, where that is empty, with its article."""
    if not number:
        return with_article(noun)
    last = noun.split()[-1]
    ending = "es" if last.endswith(("s", "sh", "ch", "x")) else "s"
    return f"{number} {noun[: -len(last)]}{PLURALS.get(last, last + ending)}"


def be(number: str) -> str:
    """The verb for a subject of that number."""
    return "are" if number else "is"


def kinds_of(word: str) -> list[str]:
    """The word and more general ones."""
    kind = GENERAL.get(word, word)
    top = "person" if kind in PEOPLE else "animal" if kind in CREATURES else ""
    return [w for w in dict.fromkeys((word, kind, top)) if w]


def somebody(creature: str) -> str:
    """The most general word for a creature."""
    return "somebody" if kinds_of(creature)[-1] == "person" else "an animal"


def special(word: str, rng: random.Random) -> str:
    """A more special word, or the word itself if there is none."""
    return rng.choice([w for w, kind in GENERAL.items() if kind == word] or [word])


def excluding(word: str, rng: random.Random) -> str:
    """A word for what the thing, creature, action or quality cannot be at the same time."""
    kind = GENERAL.get(word, word)
    groups = [list(kinds) for kinds in (CREATURES, THINGS, PLACES, TIMES, COMPANY)] + EXCLUSIVE
    others = [w for group in groups if kind in group for w in group if w != kind]
    other = OPPOSITES[kind] if kind in OPPOSITES else rng.choice(others)
    return rng.choice([other, special(other, rng)])


def make_scene(rng: random.Random) -> Scene:
    """Any scene."""
    creature = special(rng.choice(list(CREATURES)), rng)
    is_person = GENERAL[creature] in PEOPLE
    what = rng.choice(["activity", "relation", *(["action", "action"] if is_person else [])])
    thing = ""
    if what == "activity":
        action = rng.choice(list(ACTIVITIES) if is_person else OF_ANIMALS)
    elif what == "relation":
        action = rng.choice(list(RELATIONS))
        other = rng.choice([kind for kind in CREATURES if kind != GENERAL[creature]])
        thing = special(other, rng)
    else:
        action = rng.choice(list(ACTIONS))
        thing = special(rng.choice(ACTIONS[action][2].split()), rng)
    if rng.random() < 0.7:
        action = special(action, rng)
    if rng.random() < 0.25:  # a general word, of which the hypothesis may have a special one
        creature, thing = GENERAL[creature], GENERAL.get(thing, thing)
    number = rng.choice(["", "", "", rng.choice(NUMBERS), "all the"])
    scene = Scene(creature, number, action, thing, {})
    chosen = rng.sample(possible_details(scene), rng.choice([0, 1, 1, 2]))
    return scene._replace(details={name: make_detail(name, rng) for name in chosen})


def possible_details(scene: Scene) -> list[str]:
    """The names of the details that the scene has or may have."""
    impossible = set()
    if "person" not in kinds_of(scene.creature):
        impossible.add("plan")
    if scene.number:
        impossible.add("company")
    if GENERAL.get(scene.thing, scene.thing) not in THINGS:
        impossible.add("quality")
    return [name for name in DETAILS if name not in impossible]


def make_detail(name: str, rng: random.Random) -> str:
    """Any detail of that name."""
    if name == "plan":
        return rng.choice(PLANS)
    if name in ("mood", "quality"):
        pairs = MOODS if name == "mood" else QUALITIES
        return rng.choice(pairs.replace(",", "").split())
    kinds = {"place": PLACES, "time": TIMES, "company": COMPANY}[name]
    return rng.choice([word for words in kinds.values() for word in words])


def about_detail(scene: Scene, name: str, value: str, denied: bool, rng: random.Random) -> str:
    """A hypothesis that a detail has that value, or has not."""
    noun = rng.choice(kinds_of(scene.thing if name == "quality" else scene.creature))
    number = "" if name == "quality" else scene.number
    subject = counted(noun, "the") if number else f"the {noun}"
    if rng.random() < 0.2 and not number and not denied and name != "quality":
        subject = somebody(noun)
    if name == "time":
        return sentence("this is", "not" if denied else "", "happening", value)
    if name == "plan":
        wants = rng.choice(["want", "hope"]) if number else rng.choice(["wants", "hopes"])
        if denied:
            wants = "do not want" if number else "does not want"
        return sentence(subject, wants, "to", value)
    return sentence(subject, be(number), "not" if denied else "", value)


def about_action(scene: Scene, rng: random.Random, denied: bool = False) -> str:
    """The action of a scene in one of several forms of sentences, or denied."""
    thing = with_article(scene.thing) if scene.thing else ""
    subject = counted(scene.creature, scene.number)
    forms = ["plain", "plain", "somebody", "something" if thing else "plain"]
    forms.append("plain" if scene.number else "the one")
    form = rng.choice(["not", "not", "nobody"] if denied else forms)
    if form == "not":
        subject = counted(scene.creature, "the") if scene.number else f"the {scene.creature}"
        return sentence(subject, be(scene.number), "not", scene.action, thing)
    if form == "nobody":
        return sentence("nobody is", scene.action, thing)
    if form == "somebody":
        return sentence(somebody(scene.creature), "is", scene.action, thing)
    if form == "something":
        return sentence(subject, be(scene.number), scene.action, "something")
    if form == "the one":
        return sentence("the one who is", scene.action, thing, "is", with_article(scene.creature))
    return sentence(subject, be(scene.number), scene.action, thing)


def more_general(scene: Scene, rng: random.Random) -> Scene:
    """The same in the same or more general words."""
    number = scene.number
    if number and rng.random() < 0.5:
        number = "some"
    return scene._replace(
        creature=rng.choice(kinds_of(scene.creature)),
        number=number,
        action=rng.choice(kinds_of(scene.action)),
        thing=scene.thing and rng.choice(kinds_of(scene.thing)),
    )


def with_word(scene: Scene, name: str, word: str) -> Scene:
    """The scene with another word for a part."""
    values: dict[str, Any] = {name: word}
    return scene._replace(**values)


def entailment(scene: Scene, rng: random.Random) -> str:
    """A hypothesis that the scene entails."""
    name = part_of(scene, rng)
    if name != "action":
        value, denied = scene.details[name], rng.random() < 0.3
        if denied and name != "plan":
            return about_detail(scene, name, excluding(value, rng), True, rng)
        return about_detail(scene, name, rng.choice([value, GENERAL.get(value, value)]), False, rng)
    claim = more_general(scene, rng)
    if rng.random() < 0.3:
        return about_action(claim._replace(action=excluding(scene.action, rng)), rng, denied=True)
    return about_action(claim, rng)


def contradiction(scene: Scene, rng: random.Random) -> str:
    """A hypothesis that excludes the scene."""
    name = part_of(scene, rng)
    if name != "action":
        value = scene.details[name]
        if name == "plan" or rng.random() < 0.4:
            value = rng.choice([value, GENERAL.get(value, value)])
            return about_detail(scene, name, value, True, rng)
        return about_detail(scene, name, excluding(value, rng), False, rng)
    claim = more_general(scene, rng)
    changes = ["denied", "creature", "action", *(["thing"] if scene.thing else [])]
    if GENERAL.get(scene.thing, scene.thing) in CREATURES:
        changes += ["roles", "roles"]
    change = rng.choice(changes)
    if change == "denied":
        return about_action(claim, rng, denied=True)
    if change == "roles":
        return about_action(
            claim._replace(creature=claim.thing, number="", thing=claim.creature), rng
        )
    return about_action(with_word(claim, change, excluding(getattr(scene, change), rng)), rng)


def neutral(scene: Scene, rng: random.Random) -> str:
    """A hypothesis that the scene neither entails nor excludes."""
    claim = more_general(scene, rng)
    changes = {
        name: special(word, rng)
        for name in ("creature", "action", "thing")
        if (word := getattr(scene, name)) and special(word, rng) != word
    }
    if changes and rng.random() < 0.5:
        name = rng.choice(list(changes))
        return about_action(with_word(claim, name, changes[name]), rng, rng.random() < 0.2)
    missing = [name for name in possible_details(scene) if name not in scene.details]
    name = rng.choice(missing)
    value = make_detail(name, rng)
    value = rng.choice([value, GENERAL.get(value, value)])
    return about_detail(scene, name, value, rng.random() < 0.3, rng)


def part_of(scene: Scene, rng: random.Random) -> str:
    """The part that a hypothesis is about: the action or a detail."""
    return rng.choice(["action", *scene.details, *scene.details])


def make_pairs(count: int, seen: set[str], rng: random.Random) -> list[tuple[str, str, str]]:
    """`count` pairs whose premises are not in `seen`, to which they are added."""
    labels = [entailment, contradiction, neutral]
    pairs: list[tuple[str, str, str]] = []
    while len(pairs) < count:
        scene = make_scene(rng)
        premise = scene.premise()
        if premise in seen:
            continue
        seen.add(premise)
        label = labels[len(pairs) % len(labels)]
        pairs.append((premise, label(scene, rng), label.__name__))
    return pairs


def main() -> None:
    """Write train.tsv, validation.tsv and test.tsv into the folder of the command line."""
    parser = argparse.ArgumentParser(description="Write the quick-start data.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(2019)
    seen: set[str] = set()
    for split, size in SIZES.items():
        rows = ["sentence1\tsentence2\tlabel"]
        rows.extend("\t".join(pair) for pair in make_pairs(size, seen, rng))
        (folder / f"{split}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
