"""The page as a visitor sees it, in Chromium.

Set `CHROMIUM` to the browser's path if it is not found by name.
"""

import json
import os
import re
import shutil
from itertools import product
from urllib.parse import urlsplit

import pytest

httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.browser

PAIR = ("A small dog is running on the beach.", "A dog is moving.")
LABELS = {"entailment", "contradiction", "neutral"}
BUSY = "[aria-busy=true]"

PAGES = {
    "sentence_classifier": (["What is a crab?"], r"\d+\.\d %", "Pooling attention"),
    "bcn": (["What is a crab?"], r"\d+\.\d %", "Attention"),
    "esim": (PAIR, r"\d+\.\d %", "Attention of the premise to the hypothesis"),
    "lstmn_classifier": (PAIR, r"\d+\.\d %", "Self attention of the premise"),
    "similarity_regressor": (PAIR, "on the scale from 0 to 5", None),
    "attentive_ranker": (["how do bees make honey", "nectar .\nbees"], "Answers, the best first",
                         "Attention of the question"),
    "encoder_decoder": (["Ein Hund trinkt Kaffee."], "Translations, the best first", "Alignment"),
    "rnet": (["The \U0001f98a slept. A hen ran.", "Who slept?"], "Answers, the most probable first",
             "Answer in the passage"),
    "cs_lvm": (PAIR, r"\d+\.\d %", None),
    "distilled_encoder": (["The baker sings."], "384", None),
}  # fmt: skip
"""For models of fixtures/models, a text for each box, a part of the answer and a picture's title.
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless browser. At the end, its own log shows that the page contacted no other
    machine.
    """
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    path = next(filter(None, map(shutil.which, filter(None, names))), None)
    if path is None:
        sentence = "no Chromium was found: install it, or set CHROMIUM to its path"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(sentence)
    playwright = pytest.importorskip("playwright.sync_api")
    traffic = tmp_path_factory.mktemp("browser") / "traffic.json"
    arguments = [
        "--no-sandbox",
        f"--log-net-log={traffic}",
        # Chromium's own background requests fail, too.
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=arguments)
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
    """Opens the page, by default of `demo_process`; at the end, there was no error in the browser's
    console and no request to anyone else.
    """
    pages = []
    problems = []
    requests = []

    def open_page(width: int = 1100, color_scheme: str = "light", address: str = ""):
        address = address or request.getfixturevalue("demo_process")[1]
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=color_scheme)
        page.set_default_timeout(10_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append((request.url, address)))
        page.goto(address)
        page.get_by_role("button").first.wait_for()
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    # The browser logs each answer that is not 200.
    assert [text for text in problems if "Failed to load resource" not in text] == []
    assert requests
    for url, address in requests:
        assert url.startswith(address), url


def ask(page, *texts: str, button: str = "Classify") -> None:
    for box, text in zip(page.get_by_role("textbox").all(), texts):
        box.fill(text)
    page.get_by_role("button", name=button, exact=True).click()


def wait_until_done(page) -> None:
    page.get_by_label("Inside the model").and_(page.locator("[aria-busy=false]")).wait_for(
        state="attached"
    )


def probabilities(page) -> dict[str, float]:
    rows = page.get_by_label("Answer", exact=True).get_by_role("row")
    rows.first.wait_for()
    return {(parts := row.inner_text().split())[0]: float(parts[1]) for row in rows.all()}


def tab_to(page, target, key: str = "Tab") -> None:
    for _ in range(30):
        if target.evaluate("element => document.activeElement === element"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not reach {target}")


def test_a_pair_gets_a_label_pictures_and_saliency(open_page, demo_process):
    page = open_page()
    assert page.title() == "Sentence pairs: siamese_classifier · allennlp_sentmatch"
    assert page.get_by_role("heading", level=1).inner_text() == "Sentence pairs: siamese_classifier"
    assert "pooled cas_lstm · heuristic" in page.inner_text("header")
    assert not page.get_by_label("Integrated gradients").is_visible()
    ask(page, *PAIR)
    page.get_by_role("figure").first.wait_for()
    expected = httpx.post(
        f"{demo_process[1]}predict", json=dict(zip(("premise", "hypothesis"), PAIR))
    ).json()
    shown = probabilities(page)
    assert shown.keys() == LABELS
    assert [*shown.values()] == sorted(shown.values(), reverse=True)
    for label, probability in expected["probs_by_label"].items():
        assert shown[label] == pytest.approx(100 * probability, abs=0.051)
    assert page.get_by_label("Answer", exact=True).get_by_text(expected["label"]).count() == 2
    histogram = page.get_by_role("img", name=re.compile(r"Vertical forget gate, layer 2: mean 0\."))
    assert histogram.bounding_box()["width"] > 100
    for figure in page.get_by_role("figure").all():
        assert figure.locator("p.note").inner_text().endswith(".")
    # Another method gives another saliency.
    saliency = page.get_by_label("Saliency").locator("[aria-live]")
    saliency.get_by_text("hypothesis:").wait_for()
    before = saliency.inner_html()
    with page.expect_response("**/saliency/integrated"):
        page.get_by_label("Integrated gradients").check()
    page.wait_for_timeout(100)
    assert saliency.inner_html() != before
    assert saliency.inner_text().split()[:4] == ["premise:", "A", "small", "dog"]


def test_an_old_answer_is_gray_and_the_page_says_how_many_wait(open_page):
    page = open_page()
    ask(page, *PAIR)
    wait_until_done(page)
    assert page.locator(BUSY).count() == 0
    page.route("**/predict", lambda route: None)  # an answer never comes
    page.get_by_role("button", name="Classify").click()
    page.get_by_role("status").get_by_text("Inputs that wait for the model: 0").wait_for()
    old = page.locator(BUSY)
    assert old.count() == 3
    for element in old.all():
        assert float(element.evaluate("element => getComputedStyle(element).opacity")) < 0.5
    page.unroute_all(behavior="ignoreErrors")
    page.get_by_role("button", name="Classify").click()
    wait_until_done(page)
    assert page.locator(BUSY).count() == 0


def test_an_empty_text_gets_a_sentence(open_page):
    page = open_page()
    ask(page, PAIR[0], "")
    alert = page.get_by_role("alert").get_by_text("Please fill in “Second sentence (hypothesis)”.")
    alert.wait_for()
    second = page.get_by_role("textbox", name="Second sentence (hypothesis)")
    assert second.evaluate("element => document.activeElement === element")
    assert second.get_attribute("aria-invalid") == "true"
    assert page.get_by_role("figure").count() == 0
    ask(page, *PAIR)
    alert.wait_for(state="detached")
    assert probabilities(page).keys() == LABELS


def test_an_error_is_told_in_place_of_the_old_answer(open_page):
    page = open_page()
    ask(page, *PAIR)
    wait_until_done(page)
    ask(page, "a " * 15_000, PAIR[1])
    page.get_by_role("alert").get_by_text("The texts have 30,015 characters").wait_for()
    assert page.get_by_role("figure").count() == 0
    # An expensive input is refused by itself.
    ask(page, "a dog " * 250, PAIR[1])
    page.get_by_text("are limited to").first.wait_for()
    wait_until_done(page)
    assert probabilities(page).keys() == LABELS


def test_an_answer_of_which_a_part_came_is_an_error(open_page):
    page = open_page()
    page.route("**/predict", lambda route: route.fulfill(body='{"probs_by'))
    ask(page, *PAIR)
    page.get_by_role("alert").get_by_text("and not all of it came").wait_for()
    assert page.locator("#answer > *").count() == 0


def test_a_new_question_ends_the_saliency_of_the_last_one(open_page):
    page = open_page()
    ask(page, *PAIR)
    wait_until_done(page)
    page.route("**/saliency/*", lambda route: None)
    page.get_by_label("SmoothGrad").check()
    page.route("**/predict", lambda route: route.fulfill(status=500, body="{}"))
    with page.expect_event("requestfailed", timeout=10_000):
        ask(page, *PAIR)


def test_an_example_fills_the_texts(open_page):
    page = open_page()
    example = page.get_by_label("Examples").get_by_role("button").first
    text = example.inner_text()
    example.click()
    page.get_by_role("figure").first.wait_for()
    boxes = page.get_by_role("textbox", name=re.compile("First|Second")).all()
    assert " → ".join(box.input_value() for box in boxes) == text


def test_html_that_was_typed_is_text(open_page):
    page = open_page()
    attack = "<img src=x onerror='document.title=1'> ${document.title=1} {{value}} <b>bold</b>"
    ask(page, attack, attack)
    wait_until_done(page)
    assert "onerror" in page.get_by_role("status").filter(has_text="vocabulary").inner_text()
    assert "<b>bold" in page.get_by_label("Saliency").inner_text().replace(" ", "")
    assert page.title() == "Sentence pairs: siamese_classifier · allennlp_sentmatch"
    assert page.locator("img, b:text('bold')").count() == 0


@pytest.mark.parametrize(
    "attack",
    [
        "document.body.innerHTML = '<b>text</b>'",
        "document.body.append(Object.assign(document.createElement('script'), {text: '1'}))",
        "fetch('http://127.0.0.2:9/')",
    ],
)
def test_what_the_page_never_does_is_refused(browser, demo_process, attack):
    page = browser.new_page()
    page.goto(demo_process[1])
    with pytest.raises(Exception, match=r"requires 'Trusted|Failed to fetch"):
        page.evaluate(attack)
    page.close()


def test_search_finds_the_sentence_itself(open_page):
    page = open_page()
    box = page.get_by_role("textbox", name="Sentence", exact=True)
    box.fill("The dogs are asleep at home.")
    box.press("Enter")
    cells = page.get_by_label("Search").get_by_role("cell")
    cells.first.wait_for()
    assert [cells.nth(i).inner_text() for i in (0, 1)] == ["1.000", "The dogs are asleep at home."]
    assert page.get_by_label("Search").get_by_text("Searches 50 sentences").count() == 1


def test_generated_sentences(open_page, untrained_predictor, served):
    with served(untrained_predictor("cs_lvm")) as port:
        page = open_page(address=f"http://127.0.0.1:{port}/")
        page.get_by_role("textbox", name="First sentence", exact=True).fill("A woman waits .")
        page.get_by_role("button", name="Write").click()
        labels = page.get_by_role("table", name="Sentences for each label").get_by_role("cell")
        labels.first.wait_for()
        assert {cell.inner_text() for cell in labels.all()[::2]} == LABELS
        page.get_by_label("Draw the latent vector").check()
        with page.expect_request("**/generate/drawn"):
            page.get_by_role("button", name="Write").click()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_by_keyboard(open_page, untrained_predictor, served, name):
    """It fits on the screen and is readable."""
    texts, part, title = PAGES[name]
    with served(untrained_predictor(name)) as port:
        for width, color_scheme in product((1280, 390), ("light", "dark")):
            page = open_page(width, color_scheme, f"http://127.0.0.1:{port}/")
            form = page.locator("form").first
            tab_to(page, form.get_by_role("button"))
            page.keyboard.press("Enter")
            page.get_by_role("alert").first.wait_for()
            assert_readable(page, color_scheme, "h1", "header p", ".error", "label")
            boxes = form.get_by_role("textbox").all()
            assert len(boxes) == len(texts)
            for box, text in reversed([*zip(boxes, texts)]):
                tab_to(page, box, "Shift+Tab")
                page.keyboard.type(text)
            tab_to(page, form.get_by_role("button"))
            page.keyboard.press("Enter")
            answer = page.get_by_label("Answer", exact=True)
            answer.get_by_text(re.compile(part)).first.wait_for()
            wait_until_done(page)
            assert title is None or page.get_by_role("figure").filter(has_text=title).count()
            assert page.locator("main .error:visible").count() == 0
            assert_fits(page, width)


def assert_fits(page, width: int) -> None:
    """Nothing requires scrolling sideways."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.locator("textarea:visible, button:visible, figure").all():
        edges = box.bounding_box()
        assert edges["x"] >= 0
        assert edges["x"] + edges["width"] <= width


def assert_readable(page, color_scheme: str, *selectors: str) -> None:
    """The contrast satisfies WCAG 2.1, AA: at least 4.5."""
    background = luminance(page.locator("body"), "backgroundColor")
    assert (background < 0.5) == (color_scheme == "dark")
    for selector in selectors:
        color = luminance(page.locator(selector).first, "color")
        lighter = max(color, background)
        darker = min(color, background)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, selector


def luminance(element, name: str) -> float:
    """The relative luminance of a color `rgb(...)`, as WCAG 2.1 defines it."""
    color = element.evaluate(f"element => getComputedStyle(element).{name}")
    channels = [int(number) / 255 for number in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))
