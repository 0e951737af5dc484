"""The page's layout, in Gradio."""

from contextlib import suppress
from functools import partial
from typing import Any, Optional

from allennlp_sentmatch.demo.callbacks import answer, explanation, generated, neighbors
from allennlp_sentmatch.demo.demo_model import DemoModel
from allennlp_sentmatch.demo.examples import choose_examples
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch
from allennlp_sentmatch.demo.markup import heading, message

with suppress(ImportError):  # AllenNLP imports every module; `server` says what is missing
    import gradio

METHODS = [
    ("Simple gradients", "simple"),
    ("Integrated gradients", "integrated"),
    ("SmoothGrad", "smooth"),
]

EVENT: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}


def build_page(model: DemoModel, search: Optional[InMemorySearch] = None) -> Any:
    """The page of a model.

    # Parameters

    model : `DemoModel`
    search : `InMemorySearch`, optional (default = `None`)
        The corpus to be searched, if any.

    # Returns

    `gradio.Blocks`
        Not served yet.
    """
    title = f"{model.title} · allennlp_sentmatch"
    with gradio.Blocks(title=title, analytics_enabled=False) as page:
        _html(heading(model.title, model.description))
        with gradio.Tabs():
            with gradio.Tab(_verb(model)):
                _add_answer(model)
            if model.can_generate:
                with gradio.Tab("Write"):
                    _add_generation(model)
            if search is not None:
                with gradio.Tab("Search"):
                    _add_search(search)
    return page


def _add_answer(model: DemoModel) -> None:
    """What can be typed, examples, and what the model says and does."""
    with gradio.Row(elem_classes="question"):
        with gradio.Column(elem_classes="texts"):
            # A line that grows: Enter sends it, and Shift+Enter where there are several lines.
            texts = [
                gradio.Textbox(
                    label=text_input.label,
                    lines=4 if text_input.one_a_line else 1,
                    max_lines=10,
                )
                for text_input in model.inputs
            ]
            button = gradio.Button(_verb(model), variant="primary")
            note = _html()
        with gradio.Column(elem_classes="label"):
            label = _html() if model.is_ranker else gradio.Label(label="Label and probability")
        with gradio.Column(elem_classes="saliency", visible=model.can_explain):
            method = gradio.Radio(METHODS, value="simple", label="Which words decided, by")
            saliency = _html()
        with gradio.Column(elem_classes="examples"):
            _html("<h2>Examples</h2>")
            examples = choose_examples(model)
            example_buttons = [
                gradio.Button(_one_line(example), size="sm", elem_classes="example")
                for example in examples
            ]
    drawings = _html()

    answering = {
        "fn": partial(answer, model),
        "inputs": [method, *texts],
        "outputs": [note, label, drawings, saliency],
        **EVENT,
    }
    gradio.on([button.click, *(text.submit for text in texts)], **answering)
    for example, example_button in zip(examples, example_buttons):
        filled = example_button.click(partial(_fill, example), None, texts, **EVENT)
        filled.then(**answering)
    method.change(partial(explanation, model), [method, *texts], saliency, **EVENT)


def _add_generation(model: DemoModel) -> None:
    """Sentences that stand in each relation to one."""
    source = gradio.Textbox(label="First sentence", lines=1, max_lines=10)
    sample = gradio.Checkbox(label="Draw the latent vector: other sentences each time")
    button = gradio.Button("Write", variant="primary")
    sentences = _html()
    gradio.on(
        [button.click, source.submit],
        partial(generated, model),
        [source, sample],
        sentences,
        **EVENT,
    )


def _add_search(search: InMemorySearch) -> None:
    """The nearest sentences of the corpus."""
    query = gradio.Textbox(label="Sentence", lines=1, max_lines=10)
    button = gradio.Button("Search", variant="primary")
    _html(message(f"Searches {len(search.sentences):,} sentences by the cosine of their vectors."))
    found = _html()
    gradio.on([button.click, query.submit], partial(neighbors, search), query, found, **EVENT)


def _html(value: str = "") -> Any:
    return gradio.HTML(value, elem_classes="sentmatch", js_on_load=None)


def _verb(model: DemoModel) -> str:
    return "Rank" if model.is_ranker else "Classify"


def _fill(example: tuple[str, ...]) -> Any:
    return example if len(example) > 1 else example[0]


def _one_line(example: tuple[str, ...]) -> str:
    """An example as a button's text; of candidates, their number."""
    first, *others = example
    if others and "\n" in others[0]:
        return f"{first} ({len(others[0].splitlines())} answers)"
    return " → ".join(example)
