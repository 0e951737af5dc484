"""The page of `allennlp demo` for a model: its inputs and its examples."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.models import Archive

from allennlp_sentmatch.data.unknown_words import unknown_words
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.inspection import SALIENCY_METHODS
from allennlp_sentmatch.models import CrossSentenceLatentVariableModel, ScoreModel
from allennlp_sentmatch.predictors import (
    AnswerExtractorPredictor,
    AnswerRankerPredictor,
    PairGenerator,
    SentenceVectorPredictor,
    TranslationPredictor,
)
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor
from allennlp_sentmatch.serving.predictions import GenerationJob, SearchJob
from allennlp_sentmatch.serving.routes import JobRoute, Service

NUM_EXAMPLES = 5
LONGEST_EXAMPLE = 1000  # characters of JSON
MOST_READ = 200  # instances of the validation data

_TEXTS = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
"""Texts for trying a model, all written for this page."""

CAPTIONS = _TEXTS["captions"]
PARAPHRASES = _TEXTS["paraphrases"]
QUESTIONS = _TEXTS["questions"]
CAPTION = [[text] for text in dict.fromkeys(pair[0] for pair in CAPTIONS)]

CORPUS: list[str] = [
    *dict.fromkeys(text for pair in CAPTIONS + _TEXTS["quick_start"] for text in pair),
    *_TEXTS["more_to_search"],
]
"""Sentences to search."""


@dataclass(frozen=True)
class TextInput:
    """A text that a model reads.

    # Attributes

    name : `str`
        The text's key in the predictor's JSON.
    label : `str`
        Its name on the page.
    lines : `int`
        The initial height of its box.
    is_list : `bool`
        Whether the model reads a list, one element on each line.
    """

    name: str
    label: str
    lines: int = 1
    is_list: bool = False


@dataclass(frozen=True)
class Task:
    """The inputs on the page for one kind of predictor.

    The `verb` is the text of the button. An example has a text for each of the `inputs`.
    """

    title: str
    verb: str
    inputs: list[TextInput]
    examples: Sequence[Sequence[str]] = ()


SENTENCE = [TextInput("sentence", "Sentence")]
PAIR = [
    TextInput("premise", "First sentence (premise)"),
    TextInput("hypothesis", "Second sentence (hypothesis)"),
]
SOURCE = [TextInput("source", "Sentence")]
PASSAGE = [TextInput("passage", "Passage", lines=6), TextInput("question", "Question")]
CANDIDATES = [
    TextInput("question", "Question"),
    TextInput("candidates", "Possible answers, one per line", lines=4, is_list=True),
]


TASKS = {
    AnswerRankerPredictor: Task("Answers to a question", "Rank", CANDIDATES, _TEXTS["answers"]),
    AnswerExtractorPredictor: Task("Reading comprehension", "Answer", PASSAGE, _TEXTS["passages"]),
    SentenceVectorPredictor: Task("Sentence vectors", "Encode", SENTENCE, CAPTION + QUESTIONS),
    PairGenerator: Task("Second sentences of pairs", "Write", SOURCE, CAPTION),
}


def task_of(predictor: EchoingPredictor) -> Task:
    """Return the task of a predictor.

    A task of another package's predictor has its class's name and its keys, and no examples.
    """
    for kind, task in TASKS.items():
        if isinstance(predictor, kind):
            return task
    if isinstance(predictor, TranslationPredictor):
        return Task("Translation", "Translate", SOURCE, _sources(predictor))
    if isinstance(predictor, ClassificationPredictor):
        return _classification(predictor)
    inputs = [TextInput(key, key.capitalize()) for key in predictor.input_keys[0]]
    return Task(type(predictor).__name__, "Predict", inputs)


def _sources(predictor: TranslationPredictor) -> list[list[str]]:
    """Return sentences in the source language, or in German and English if it is unknown."""
    german: list[list[str]] = _TEXTS["german_captions"]
    tokenizers = getattr(predictor._dataset_reader, "_tokenizers", {})
    language = getattr(tokenizers.get("source"), "language", None)
    if language == "de":
        return german
    return CAPTION if language == "en" else german + CAPTION


def _classification(predictor: ClassificationPredictor) -> Task:
    """Return the task of labels or scores, with examples for the labels."""
    model = predictor._model
    if isinstance(model, ScoreModel):
        return Task("Sentence pairs", "Compare", PAIR, PARAPHRASES + CAPTIONS)
    labels = model.vocab.get_token_to_index_vocabulary(str(model._label_namespace))
    if len(predictor.input_keys[0]) == 1:
        texts = QUESTIONS if "NUM" in labels else _TEXTS["reviews"]
        return Task("Sentences", "Classify", SENTENCE, texts)
    texts = CAPTIONS + _TEXTS["quick_start"] if "entailment" in labels else PARAPHRASES
    return Task("Sentence pairs", "Classify", PAIR, texts)


def with_page(
    service: Service,
    predictor: EchoingPredictor,
    parts: Sequence[str],
    examples: Sequence[JsonDict] = (),
    corpus: Optional[Sequence[str]] = None,
) -> Service:
    """Return a service with the page, and with what only the page asks for.

    This is `/search` if the model has a sentence encoder and, for a `cs_lvm`, `/generate`, and
    `/generate/drawn` with a drawn latent vector.

    # Parameters

    service : `Service`, required
    predictor : `EchoingPredictor`, required
    parts : `Sequence[str]`, required
        The model's name and other words about it, see `parts_of`.
    examples : `Sequence[JsonDict]`, optional (default = `()`)
        Inputs of the predictor to try. If there is none, examples of its task are shown.
    corpus : `Sequence[str]`, optional (default = `None`)
        The sentences to search, by default a few dozen. Raises `ConfigurationError` for a corpus
        if the model has no sentence encoder.
    """
    routes = {**service.routes, **_generation_routes(predictor)}
    search = _search_job(predictor, corpus)
    if search is not None:
        routes["/search"] = JobRoute(search, {"sentence": "A cat."})
    model = predictor._model
    has_scores = isinstance(model, ScoreModel)
    task = task_of(predictor)
    name, *details = parts
    page: JsonDict = {
        **asdict(task),
        "examples": list(examples) or _best_known(predictor, task),
        "name": name,
        "description": " · ".join(details),
        "saliency": [method for method in SALIENCY_METHODS if f"/saliency/{method}" in routes],
        "scale": [model.lowest_score, model.highest_score] if has_scores else [],
        "generates": "/generate" in routes,
        "search": "" if search is None else search.description,
    }
    return replace(service, routes=routes, page=page)


def _search_job(
    predictor: EchoingPredictor, corpus: Optional[Sequence[str]]
) -> Optional[SearchJob]:
    """Return the search on the page; `None` without a corpus for a model that has no encoder."""
    if corpus is not None:
        return SearchJob(predictor, corpus)
    # No warning about unknown words in the page's own sentences.
    with suppress(ConfigurationError), noting(()):
        return SearchJob(predictor, CORPUS)
    return None


def _generation_routes(predictor: EchoingPredictor) -> dict[str, JobRoute]:
    """Return the routes of a `cs_lvm` that writes sentences; none for other models."""
    model = predictor._model
    if not isinstance(model, CrossSentenceLatentVariableModel):
        return {}
    example = {"source": "A man is asleep."}
    routes = {}
    for path, is_drawn in (("/generate", False), ("/generate/drawn", True)):
        generator = PairGenerator(model, predictor._dataset_reader, is_drawn)
        routes[path] = JobRoute(GenerationJob(generator), example)
    return routes


def _best_known(predictor: EchoingPredictor, task: Task) -> list[JsonDict]:
    """Return the `NUM_EXAMPLES` examples of a task with the fewest words that the model lacks.

    They are JSON objects that the predictor takes.
    """
    vocab = predictor._model.vocab

    def num_unknown(example: JsonDict) -> int:
        return len(unknown_words(predictor.check(example).instance, vocab))

    examples = []
    for texts in task.examples:
        example: JsonDict = {}
        for text_input, text in zip(task.inputs, texts):
            example[text_input.name] = text.splitlines() if text_input.is_list else text
        examples.append(example)
    return sorted(examples, key=num_unknown)[:NUM_EXAMPLES]


def validation_examples(archive: Archive, predictor: EchoingPredictor) -> list[JsonDict]:
    """Return at most `NUM_EXAMPLES` inputs from the archive's validation data, the labels in turn.

    There are none if the data are not a file on this machine.
    """
    path = archive.config.get("validation_data_path")
    if not isinstance(path, str) or not Path(path).is_file():
        return []
    by_label: dict[str, list[JsonDict]] = {}
    with suppress(Exception):  # a reader of another package may raise anything
        for instance in islice(predictor._dataset_reader.read(path), MOST_READ):
            label: Any = instance.fields.get("label")
            texts = _texts_of(instance, predictor)
            if texts is not None:
                by_label.setdefault(getattr(label, "label", ""), []).append(texts)
    in_turn = chain.from_iterable(zip_longest(*by_label.values()))
    found = [texts for texts in in_turn if texts is not None]
    return found[:NUM_EXAMPLES]


def _texts_of(instance: Instance, predictor: EchoingPredictor) -> Optional[JsonDict]:
    """Return an instance's input for the predictor.

    It is `None` if the instance's metadata do not have all texts, or if they are long.
    """
    metadata: Any = instance["metadata"] if "metadata" in instance.fields else {}
    texts = {"sentence": metadata.get("text"), **metadata}
    found = {key: texts.get(key) for key in predictor.input_keys[0]}
    if not all(found.values()):
        return None
    is_short = len(json.dumps(found)) <= LONGEST_EXAMPLE
    return found if is_short else None


def parts_of(archive: Archive) -> list[str]:
    """Return the registered names of a model and of its parts, and its number of parameters.

    The first one is the model's name.
    """
    parts = _parts(archive.config["model"].as_dict())
    num_parameters = sum(parameter.numel() for parameter in archive.model.parameters())
    return [*parts, f"{num_parameters / 1e6:.1f}M parameters"]


def _parts(config: JsonDict) -> list[str]:
    """Return the registered names of a model, of its encoders and of its matcher or scorer."""
    parts = [str(config["type"])]
    for key in ("encoder", "matcher", "scorer"):
        part = config.get(key)
        if isinstance(part, dict) and "type" in part:
            parts.append(" ".join(_parts(part)))
        elif isinstance(part, str):
            parts.append(part)
    return parts
