"""Make sentences with another meaning, or the same, by changing a word or the word order.

`Substitution.negatives` gives sentences with nearly the same words and another meaning:

    negation   "not" (or "no", "don't") is added, or taken away
    antonym    an adjective, adverb or noun becomes its antonym in WordNet
    kind       a noun, a colour, a day ... becomes another of its kind ("a red car", "a blue car")
    number     a number becomes another
    roles      subject and object change places

`Substitution.positives` gives sentences with the same meaning: a word becomes its synonym, a
contraction is written out or made, an active sentence becomes passive, "A man is ..." becomes
"There is a man ...", and "is open" becomes "is not closed".
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Callable, Optional

from scripts.encoder.wordnet import WordNet

SETS = [
    [word.replace("_", " ") for word in line.split()]
    for line in """\
red blue green yellow black white brown orange pink purple gray
two three four five six seven eight nine ten eleven twelve twenty
Monday Tuesday Wednesday Thursday Friday Saturday Sunday
January February March April June July August September October November December
north south east west
morning afternoon evening night
spring summer autumn winter
first second third fourth fifth last
breakfast lunch dinner
man woman
men women
boy girl
boys girls
father mother
brother sister
husband wife
son daughter
uncle aunt
king queen
left right
inside outside
before after
above below
with without
always never
everyone nobody
everything nothing
more less fewer
in_front_of behind
up down
many few
all some no
dog cat horse cow bird
dogs cats horses cows birds
car truck bus bicycle motorcycle train
guitar piano violin flute drums
soccer basketball football tennis baseball hockey
beach park street kitchen forest
apple banana orange pear
apples bananas oranges pears
coffee tea milk water juice beer wine
hat shirt jacket coat scarf
English French German Spanish Italian Chinese Japanese Russian
France Germany Spain Italy China Japan Russia Canada Mexico India Brazil
hours minutes seconds days weeks months years
hour minute second day week month year
Tom Mary John
doctor teacher lawyer nurse engineer
table chair bed desk sofa""".splitlines()
]
"""Words of one kind, in addition to WordNet's."""

NUMBERS = SETS[1]

CONTRACTIONS = {
    "don't": "do not", "doesn't": "does not", "didn't": "did not", "isn't": "is not",
    "aren't": "are not", "wasn't": "was not", "weren't": "were not", "can't": "cannot",
    "won't": "will not", "wouldn't": "would not", "shouldn't": "should not",
    "couldn't": "could not",
    "haven't": "have not", "hasn't": "has not", "I'm": "I am", "I've": "I have", "I'll": "I will",
    "you're": "you are", "we're": "we are", "they're": "they are", "it's": "it is", "he's": "he is",
    "she's": "she is", "there's": "there is", "that's": "that is", "It's": "It is", "He's": "He is",
    "She's": "She is", "You're": "You are", "We're": "We are", "They're": "They are",
    "That's": "That is", "There's": "There is", "What's": "What is",
}  # fmt: skip
DETERMINERS = "a|an|the|this|that|his|her|their|my|our|two|three|four|five|some|several|many"
PREPOSITIONS = (
    "in|on|at|with|from|to|of|for|by|about|into|over|under|near|through|after|before|between|during"
    "|without|behind|beside|across|around|against|along|down|up|off|out|and|or|while|as|that|who"
)
NOUN_PHRASE = rf"(?:(?:{DETERMINERS})(?: (?!(?:{PREPOSITIONS})\b)[a-z]+){{1,2}}|Tom|Mary|John)"
ACTIVE = re.compile(
    rf"^({NOUN_PHRASE}) (is|are) ([a-z]+ing) ({NOUN_PHRASE})(?=[ .]|$)(.*)$", re.IGNORECASE
)
PARTICIPLES = dict(
    re.findall(
        r"(\w+):(\w+)",
        """\
holding:held riding:ridden throwing:thrown wearing:worn eating:eaten driving:driven reading:read
cutting:cut hitting:hit catching:caught making:made taking:taken giving:given writing:written
drawing:drawn singing:sung feeding:fed leading:led blowing:blown breaking:broken building:built
buying:bought bringing:brought fighting:fought finding:found hiding:hidden keeping:kept
knowing:known leaving:left paying:paid putting:put seeing:seen selling:sold sending:sent
shooting:shot showing:shown shaking:shaken spreading:spread stealing:stolen sweeping:swept
teaching:taught tearing:torn telling:told biting:bitten beating:beaten choosing:chosen
digging:dug doing:done drinking:drunk hearing:heard hugging:hugged petting:petted setting:set
chopping:chopped stirring:stirred slicing:sliced swinging:swung winning:won grabbing:grabbed
patting:patted tapping:tapped wrapping:wrapped stopping:stopped hurting:hurt meeting:met
losing:lost lighting:lit laying:laid grinding:ground flying:flown""",
    )
)
"""Past participles of irregular verbs, by the form in -ing."""
HAS = r"(?! (?:[a-z]+ )?(?:been|got|had|gone|done|made|seen|[a-z]+(?:ed|en))\b)"
"""Words that do not follow "'s" if it means "is"."""

WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|[0-9]+|[^A-Za-z0-9]+")
COMMON_VERBS = frozenset(
    re.findall(
        r"\w+",
        """\
like want know need think have love hate play eat drink live work go see hear feel believe
remember understand speak study read write sing swim run walk drive use buy sell make take give
help watch wear own remember trust agree enjoy visit wash cook open close start stop teach learn""",
    )
)
THERE_ARE_SOME = re.compile(r"^There (is|are) (a|an|some|two|three|many|several) ")
AUXILIARY = re.compile(
    r"^(?!.*\?)(.*?)\b(is|are|was|were|can|will|should|would|could|must)( )(?!not\b)"
)


def plural(noun: str) -> str:
    """Return the regular plural of a noun."""
    if re.search(r"(s|x|z|ch|sh)$", noun):
        return noun + "es"
    return re.sub(r"y$", "ies", noun) if re.search(r"[^aeiou]y$", noun) else noun + "s"


def singular(noun: str) -> Optional[str]:
    """Return the singular of a regular plural."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if re.search(r"(s|x|z|ch|sh)es$", noun):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else None


class Substitution:
    """Changes words of sentences.

    # Parameters

    sentences : `Iterable[str]`
        Sentences whose words are used as substitutes.
    wordnet : `Path`
        The folder of WordNet's files.
    generator : `random.Random`
    """

    def __init__(self, sentences: Iterable[str], wordnet: Path, generator: random.Random) -> None:
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(re.findall(r"[a-z]+", sentence.lower()))
        self.wordnet = WordNet(wordnet, counts)
        self.generator = generator
        self.sets: dict[str, list[str]] = defaultdict(list)
        for kind in SETS:
            for word in kind:
                self.sets[word] += [other for other in kind if other != word]

    def negatives(self, sentence: str) -> dict[str, str]:
        """Return sentences with another meaning, by the kind of change."""
        made = {
            "negation": self.negation(sentence),
            "roles": self.roles(sentence),
            "number": self._replace(sentence, self._number),
            "antonym": self._replace(sentence, self._antonym),
            "kind": self._replace(sentence, self._kind),
        }
        return {way: new for way, new in made.items() if new is not None and new != sentence}

    def positives(self, sentence: str) -> dict[str, str]:
        """Return sentences with the same meaning, by the kind of change."""
        made = {
            "passive": self.passive(sentence),
            "existence": self.existence(sentence),
            "double negation": self.double_negation(sentence),
            "synonym": self._replace(sentence, self._synonym),
            "contraction": self.contraction(sentence),
        }
        return {way: new for way, new in made.items() if new is not None and new != sentence}

    def _replace(self, sentence: str, change: Callable[[str, int], Optional[str]]) -> Optional[str]:
        """Change one word, and the article before it."""
        words = WORD.findall(sentence)
        places = list(range(len(words)))
        self.generator.shuffle(places)
        for i in places:
            new = change(words[i], i)
            if new is None:
                continue
            is_capital = i == 0 and words[i][:1].isupper()
            words[i] = _upper(new) if is_capital else new
            if i > 1 and words[i - 1] == " " and words[i - 2] in ("a", "an", "A", "An"):
                article = "an" if new[0] in "aeiouAEIOU" else "a"
                words[i - 2] = _upper(article) if words[i - 2][0] == "A" else article
            return "".join(words)
        return None

    def _form(self, word: str, table: dict[str, list[str]]) -> Optional[str]:
        lower = word.lower()
        if table.get(lower):
            return self.generator.choice(table[lower])
        single = singular(lower)
        if single is not None and self.wordnet.part.get(single) == "n" and table.get(single):
            return plural(self.generator.choice(table[single]))
        return None

    def _number(self, word: str, i: int) -> Optional[str]:
        if word.isdecimal() and word.isascii() and len(word) < 5:
            if len(word) == 4 and word[:2] in ("18", "19", "20"):
                return str(int(word) + self.generator.choice((-30, -7, -3, -1, 1, 2, 5, 12)))
            number = int(word) + self.generator.choice((-3, -1, 1, 2, 5, 10))
            other = max(0, number)
            return str(other + 1 if word == "0" else other)
        if word.lower() in NUMBERS:
            return self.generator.choice(self.sets[word.lower()])
        return None

    def _antonym(self, word: str, i: int) -> Optional[str]:
        if self.wordnet.part.get(word.lower()) in ("a", "r", "n"):
            return self._form(word, self.wordnet.antonyms)
        return None

    def _kind(self, word: str, i: int) -> Optional[str]:
        for form in (word, word.lower()):
            if form in self.sets and form not in NUMBERS:
                return self.generator.choice(self.sets[form])
        return self._form(word, self.wordnet.kinds)

    def _synonym(self, word: str, i: int) -> Optional[str]:
        if word[:1].isupper() and i:
            return None
        return self._form(word, self.wordnet.synonyms)

    def negation(self, sentence: str) -> Optional[str]:
        """Return the sentence with a negation, or without its negation."""
        without = self._without_negation(sentence)
        if without is not None:
            return without
        if THERE_ARE_SOME.search(sentence) and self.generator.random() < 0.7:
            return re.sub(r"^(There (?:is|are)) \w+", r"\1 no", sentence)
        found = AUXILIARY.search(sentence)
        if found and not re.search(r"\b(that|which|who|what|where|if|when)\b", found[1]):
            joined = self.generator.random() < 0.3 and found[2] not in ("must", "will", "can")
            end = found.end(2)
            return sentence[:end] + ("n't" if joined else " not") + sentence[end:]
        return self._with_do_not(sentence)

    def _without_negation(self, sentence: str) -> Optional[str]:
        for short, long in CONTRACTIONS.items():
            if long.endswith(" not") and re.search(rf"\b{short}\b", sentence):
                return re.sub(rf"\b{short}\b", long[:-4], sentence, count=1)
        if re.search(r"\b(is|are|was|were|can|will|should|would|could|has|have) not\b", sentence):
            return re.sub(r" not\b", "", sentence, count=1)
        if re.search(r"^There (is|are) no\b", sentence):
            return re.sub(r"\bno\b", "a" if sentence[6] == "i" else "some", sentence, count=1)
        return None

    def _with_do_not(self, sentence: str) -> Optional[str]:
        found = re.match(r"(I|You|We|They) ([a-z]+)\b", sentence)
        if found and found[2] in COMMON_VERBS:
            do_not = self.generator.choice(("do not", "don't"))
            return f"{found[1]} {do_not} {sentence[found.start(2) :]}"
        found = re.match(r"(He|She|It|Tom|Mary|John) ([a-z]+)s\b", sentence)
        if found and found[2] in COMMON_VERBS:
            return f"{found[1]} does not {found[2]}{sentence[found.end() :]}"
        return None

    def roles(self, sentence: str) -> Optional[str]:
        """Return the sentence with subject and object exchanged."""
        found = ACTIVE.match(sentence)
        if (
            found is None
            or _many(found[1]) != _many(found[4])
            or found[1].lower() == found[4].lower()
        ):
            return None
        return f"{_upper(found[4])} {found[2]} {found[3]} {_lower(found[1])}{found[5]}"

    def passive(self, sentence: str) -> Optional[str]:
        """Return an active sentence made passive."""
        found = ACTIVE.match(sentence)
        if found is None:
            return None
        participle = PARTICIPLES.get(
            found[3], re.sub(r"([^aeiou])y$", r"\1i", found[3][:-3]) + "ed"
        )
        verb = "are" if _many(found[4]) else "is"
        rest = found[5]
        return f"{_upper(found[4])} {verb} being {participle} by {_lower(found[1])}{rest}"

    def existence(self, sentence: str) -> Optional[str]:
        """Return the sentence with "There is", or without it: "(There is) a man (is) running"."""
        found = re.match(
            r"There (is|are) ((?:an?|two|three|some|several) (?:[a-z]+ ){1,2}?)([a-z]+ing .*)$",
            sentence,
        )
        if found:
            return f"{_upper(found[2].strip())} {found[1]} {found[3]}"
        found = re.match(
            r"(An?|Two|Three|Some|Several) ((?:[a-z]+ ){1,3}?)(is|are) ([a-z]+ing .*)$", sentence
        )
        if found:
            return f"There {found[3]} {found[1].lower()} {found[2]}{found[4]}"
        return None

    def double_negation(self, sentence: str) -> Optional[str]:
        """Return the sentence with "not" and an antonym."""
        found = re.search(r"\b(is|are|was|were) ([a-z]+)(?=[.,]|$)", sentence)
        if found:
            antonyms = self.wordnet.antonyms.get(found[2], [])
            if antonyms and self.wordnet.part.get(found[2]) == "a":
                return f"{sentence[: found.end(1)]} not {antonyms[0]}{sentence[found.end() :]}"
        return None

    def contraction(self, sentence: str) -> Optional[str]:
        """Return the sentence with a contraction written out, or made."""
        question = sentence.endswith("?")
        for short, long in CONTRACTIONS.items():
            # "Why don't you go?" has another word order, and "she's gone" means "she has gone".
            unclear = HAS if short.endswith("'s") else ""
            found = re.search(rf"\b{short}\b{unclear}", sentence)
            if found and not (question and long.endswith("not")):
                return sentence[: found.start()] + long + sentence[found.end() :]
        for short, long in CONTRACTIONS.items():
            if re.search(rf"\b{long}\b", sentence):
                return re.sub(rf"\b{long}\b", short, sentence, count=1)
        return None


def _many(phrase: str) -> bool:
    first = phrase.lower().split()[0]
    last = phrase.lower().split()[-1]
    return (
        first in ("two", "three", "four", "five", "some", "several", "many")
        or (last.endswith("s") and not last.endswith("ss") and first not in ("a", "an"))
        or last in ("men", "women", "people", "children")
    )


def _upper(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


def _lower(phrase: str) -> str:
    return (
        phrase if phrase.split()[0] in ("Tom", "Mary", "John") else phrase[:1].lower() + phrase[1:]
    )
