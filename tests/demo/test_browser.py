"""The page in Chromium, served by `allennlp demo` to it alone.

Set `CHROMIUM` to the browser's path where it is not found by its name.
"""

import json
import os
import re
import shutil
from urllib.parse import urlsplit

import pytest

from allennlp_sentmatch.demo import create_app
from tests.serving.running import serving

pytestmark = pytest.mark.browser

PAIR = ("A small dog is running on the beach.", "A dog is moving.")
LABELS = {"entailment", "contradiction", "neutral"}

PAGES = {
    "classification": ("sentence_classifier", ["What is a crab?"]),
    "similarity": ("similarity_regressor", PAIR),
    "ranking": ("attentive_ranker", ["how do bees make honey", "They dry the nectar.\nbees"]),
    "translation": ("encoder_decoder", ["Ein Hund trinkt Kaffee."]),
    "reading comprehension": ("rnet", ["The fox slept. A hen ran.", "Who slept?"]),
}
"""Kinds of pages besides the one of `server`, each with a model of fixtures/models and a text for
each box.
"""

CHANGED = """before => {
  const figure = document.querySelector('.saliency figure');
  return figure !== null && figure.innerHTML !== before;
}"""
"""Whether there is another saliency than before."""

OPACITY = """element => {
  let opacity = 1;
  for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
  return opacity;
}"""
"""How much of an element is seen, of its parents' opacity too."""


@pytest.fixture(scope="module")
def chromium() -> str:
    """The browser's path."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    for name in filter(None, names):
        path = shutil.which(name)
        if path is not None:
            return path
    sentence = "no Chromium was found: install it, or set CHROMIUM to its path"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="module")
def browser(chromium, tmp_path_factory):
    """A headless browser. At the end, its own log says that the page asked no other machine."""
    playwright = pytest.importorskip("playwright.sync_api")
    traffic = tmp_path_factory.mktemp("browser") / "traffic.json"
    arguments = [
        "--no-sandbox",
        f"--log-net-log={traffic}",
        # Chromium's own housekeeping finds nobody either.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()
    events = [event.get("params", {}) for event in json.loads(traffic.read_text())["events"]]
    hosts = {
        urlsplit(params["url"]).hostname
        for params in events
        if str(params.get("initiator")).startswith("http://127.0.0.1") and "url" in params
    }
    assert hosts == {"127.0.0.1"}


@pytest.fixture
def open_page(browser, request):
    """Opens the page, by default of `server`; at the end, the browser's console is empty and there
    was no request to anyone else.
    """
    pages, problems, requests = [], [], []

    def open_page(width: int = 1100, color_scheme: str = "light", address: str = ""):
        address = address or request.getfixturevalue("server")
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=color_scheme)
        page.set_default_timeout(10_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append((request.url, address)))
        page.goto(address)
        page.locator("button.primary").first.wait_for()
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []
    assert requests
    for url, address in requests:
        assert url.startswith((address, "data:", "blob:")), url


@pytest.fixture(scope="module")
def kind_of_page(request, untrained):
    """The address of one of `PAGES`, and the texts for its boxes."""
    name, texts = PAGES[request.param]
    with serving(create_app(untrained(name))) as port:
        yield f"http://127.0.0.1:{port}/", texts


def wait_for_title(page, title: str) -> None:
    """Wait until Gradio sets the title, after the page was loaded."""
    page.wait_for_function("title => document.title === title", arg=title)


def tab_to(page, selector: str, key: str = "Tab") -> None:
    for _ in range(20):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{key} does not reach {selector}")


def fill(page, *texts: str) -> None:
    for box, text in zip(page.get_by_role("textbox").all(), texts):
        box.fill(text)


def probabilities(page) -> dict[str, int]:
    """The labels with their percentages on the page."""
    page.locator(".label .confidence-set").first.wait_for()
    rows = [row.inner_text().split() for row in page.locator(".label .confidence-set").all()]
    return {row[0]: int(row[-1].rstrip("%")) for row in rows}


def test_a_pair_gets_a_label_a_picture_and_saliency(open_page, pair_model):
    page = open_page()
    wait_for_title(page, "Sentence pairs · allennlp_sentmatch")
    assert page.get_by_role("heading", level=1).inner_text() == "Sentence pairs"
    assert not page.get_by_label("Integrated gradients").is_visible()
    fill(page, *PAIR)
    page.get_by_role("button", name="Classify").click()
    page.locator("figure").nth(1).wait_for()
    shown = probabilities(page)
    assert shown.keys() == LABELS
    for label, probability in pair_model.predict(*PAIR).answer.items():
        assert shown[label] == pytest.approx(100 * probability, abs=0.51)
    for picture in page.locator("figure img").all():
        assert picture.get_attribute("alt")
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 50
    # Another method gives another saliency.
    before = page.locator(".saliency figure").inner_html()
    page.get_by_label("Integrated gradients").check()
    page.wait_for_function(CHANGED, arg=before)


def test_an_old_answer_is_greyed_and_the_page_shows_that_one_waits(open_page):
    page = open_page()
    fill(page, *PAIR)
    page.get_by_role("button", name="Classify").click()
    page.locator("figure").nth(1).wait_for()
    old = page.locator(".label .container, .saliency .html-container, .figures").all()
    for element in old:
        element.evaluate(f"e => {{ if (({OPACITY})(e) < 1) throw Error(e.className); }}")
    page.route("**/queue/join*", lambda route: None)  # there is never an answer
    page.get_by_role("button", name="Classify").click()
    page.locator(".label").get_by_text(re.compile(r"\d+\.\d")).wait_for()
    for element in old:
        page.wait_for_function(f"e => ({OPACITY})(e) < 0.5", arg=element.element_handle())
    page.unroute_all(behavior="ignoreErrors")


def test_an_empty_text_gets_a_sentence(open_page):
    page = open_page()
    fill(page, PAIR[0], "")
    page.get_by_role("button", name="Classify").click()
    alert = page.get_by_role("alert").get_by_text("Please write a hypothesis")
    alert.wait_for()
    assert page.locator("figure").count() == 0
    fill(page, *PAIR)
    page.get_by_role("button", name="Classify").click()
    alert.wait_for(state="detached")
    assert probabilities(page).keys() == LABELS


def test_an_example_fills_the_texts(open_page):
    page = open_page()
    example = page.locator("button.example").first
    text = example.inner_text()
    example.click()
    page.locator("figure").first.wait_for()
    assert " → ".join(b.input_value() for b in page.get_by_role("textbox").all()) == text


def test_html_that_was_typed_is_text(open_page):
    page = open_page()
    attack = "<img src=x onerror='document.title=1'> ${document.title=1} {{value}} <b>bold</b>"
    fill(page, attack, attack)
    page.get_by_role("button", name="Classify").click()
    page.locator("figure").nth(1).wait_for()
    assert "onerror" in page.get_by_role("status").filter(has_text="vocabulary").inner_text()
    wait_for_title(page, "Sentence pairs · allennlp_sentmatch")
    assert page.locator("img[src=x]").count() == 0


def test_search_finds_the_sentence_itself(open_page):
    page = open_page()
    page.get_by_role("tab", name="Search").click()
    box = page.get_by_role("textbox")
    box.fill("The dogs are asleep at home.")
    box.press("Enter")
    cells = page.get_by_role("cell")
    cells.first.wait_for()
    assert [cells.nth(i).inner_text() for i in (0, 1)] == ["1.000", "The dogs are asleep at home."]


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind_of_page", PAGES, indirect=True)
def test_every_page_by_keyboard(open_page, kind_of_page, width, color_scheme):
    """It fits on the screen and can be read."""
    address, texts = kind_of_page
    page = open_page(width, color_scheme, address)
    tab_to(page, "button.primary")
    page.keyboard.press("Enter")
    page.locator(".error").first.wait_for()
    assert_readable(page, color_scheme, "h1", ".subtitle", ".error", "label")
    for text in reversed(texts):
        tab_to(page, "textarea", key="Shift+Tab")
        page.keyboard.type(text)
    tab_to(page, "button.primary")
    page.keyboard.press("Enter")
    page.locator(".label table, .label .confidence-set").first.wait_for()
    assert_fits(page, width)


def assert_fits(page, width: int) -> None:
    """Nothing is reached by scrolling sideways only."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.locator("textarea:visible, button:visible").all():
        edges = box.bounding_box()
        if edges is not None and edges["width"] > 1:
            assert edges["x"] >= 0
            assert edges["x"] + edges["width"] <= width


def assert_readable(page, color_scheme: str, *selectors: str) -> None:
    """The contrast is what WCAG 2.1 asks for, AA: 4.5."""
    background = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (background < 0.5) == (color_scheme == "dark")
    for selector in selectors:
        color = page.locator(selector).first.evaluate("e => getComputedStyle(e).color")
        lighter, darker = sorted([luminance(color), background], reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (selector, color)


def luminance(color: str) -> float:
    """The relative luminance of `rgb(...)`, as WCAG 2.1 defines it."""
    channels = [float(number) / 255 for number in color.split("(")[1].rstrip(")").split(",")[:3]]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
