"""The page's layout and theme, in Gradio."""

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Optional

from allennlp_sentmatch.demo.callbacks import (
    drawings,
    explanation,
    generated,
    heading,
    message,
    neighbors,
    predictions,
)
from allennlp_sentmatch.demo.demo_model import DemoModel, InMemorySearch

with suppress(ImportError):  # AllenNLP imports every module; `server` says what is missing
    import gradio

STYLE_SHEET = Path(__file__).with_name("page.css")
SYSTEM_FONTS = ["system-ui", "Segoe UI", "Roboto", "Helvetica Neue", "sans-serif"]
MONOSPACE_FONTS = ["ui-monospace", "SF Mono", "Consolas", "monospace"]

METHODS = [
    ("Simple gradients", "simple"),
    ("Integrated gradients", "integrated"),
    ("SmoothGrad", "smooth"),
]

#: One call of each function runs at a time; the page shows how many requests wait before.
EVENT: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}

MAX_BATCH = 32
"""The largest number of people whose labels are predicted together."""

MAX_WAITING = 500
"""The largest number of requests that wait; the page refuses more."""


def build_page(model: DemoModel, search: Optional[InMemorySearch] = None) -> Any:
    """The page of a model, `gradio.Blocks`, with a corpus to be searched if there is one."""
    title = f"{model.task.title} · allennlp_sentmatch"
    with gradio.Blocks(title=title, analytics_enabled=False) as page:
        _html(heading(model.task.title, model.description))
        with gradio.Tabs():
            with gradio.Tab(model.task.verb):
                _add_answer(model)
            if model.can_generate:
                with gradio.Tab("Write"):
                    _add_generation(model)
            if search is not None:
                with gradio.Tab("Search"):
                    _add_search(model, search)
    return page.queue(max_size=MAX_WAITING)


def theme() -> Any:
    """Gradio's plain theme, without its web fonts."""
    return gradio.themes.Default(
        primary_hue="blue", neutral_hue="slate", font=SYSTEM_FONTS, font_mono=MONOSPACE_FONTS
    )


def _add_answer(model: DemoModel) -> None:
    """Add the texts, examples, the prediction, its pictures and its saliency."""
    task = model.task
    with gradio.Row(elem_classes="question"):
        with gradio.Column(elem_classes="texts"):
            # A line that grows: Enter sends it, and Shift+Enter where there are several lines.
            texts = [
                gradio.Textbox(label=text_input.label, lines=text_input.lines, max_lines=10)
                for text_input in task.inputs
            ]
            button = gradio.Button(task.verb, variant="primary")
            note = _html()
        with gradio.Column(elem_classes="label"):
            label = (
                gradio.Label(label="Label and probability") if task.shows_probabilities else _html()
            )
        with gradio.Column(elem_classes="saliency", visible=model.can_explain):
            method = gradio.Radio(METHODS, value="simple", label="Which words decided, by")
            saliency = _html()
        with gradio.Column(elem_classes="examples"):
            _html("<h2>Examples</h2>")
            examples = model.examples()
            example_buttons = [
                gradio.Button(task.describe_example(example), size="sm", elem_classes="example")
                for example in examples
            ]
    pictures = _html()

    # First the label, for all waiting visitors; then pictures and saliency, for one visitor at a
    # time. Old ones are marked as outdated in the meantime.
    predicting = {
        "fn": partial(predictions, model),
        "inputs": texts,
        "outputs": [note, label],
        "show_progress_on": [label, pictures, saliency],
        "batch": True,
        "max_batch_size": MAX_BATCH,
        "concurrency_id": "predictions",
        **EVENT,
    }
    predicted = [gradio.on([button.click, *(text.submit for text in texts)], **predicting)]
    for example, example_button in zip(examples, example_buttons):
        js = f"() => {json.dumps(example)}"
        example_button.click(None, None, texts, js=js, **EVENT)  # in the browser, no request
        predicted.append(example_button.click(js=js, **predicting))
    drawing = partial(drawings, model), texts, pictures
    explaining = partial(explanation, model), [method, *texts], saliency
    explain_together = {"concurrency_id": "explanations", **EVENT}
    for event in predicted:
        event.then(*drawing, concurrency_id="drawings", **EVENT)
        if model.can_explain:
            event.then(*explaining, **explain_together)
    method.change(*explaining, **explain_together)


def _add_generation(model: DemoModel) -> None:
    """Add the generation of a second sentence for each label."""
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


def _add_search(model: DemoModel, search: InMemorySearch) -> None:
    """Add the search for the nearest sentences of the corpus."""
    query = gradio.Textbox(label="Sentence", lines=1, max_lines=10)
    button = gradio.Button("Search", variant="primary")
    note = f"Searches {len(search.sentences):,} sentences by the cosine of their vectors."
    _html(message(f"{note} {model.task.search_note}".strip()))
    found = _html()
    gradio.on([button.click, query.submit], partial(neighbors, search), query, found, **EVENT)


def _html(value: str = "") -> Any:
    return gradio.HTML(value, elem_classes="sentmatch", js_on_load=None)
