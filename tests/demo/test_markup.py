"""HTML fragments."""

import base64

from allennlp_sentmatch.demo.markup import figures, heading, message, table
from allennlp_sentmatch.inspection import Drawing


def test_an_svg_becomes_an_image_that_runs_no_script():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert("ä")</script></svg>'
    shown = figures([Drawing('The "tree" of a<b', svg)])
    title = "The &quot;tree&quot; of a&lt;b"
    assert f"<figure><figcaption>{title}</figcaption>" in shown
    assert f'<img alt="{title}"' in shown
    data = shown.split('src="data:image/svg+xml;base64,')[1].split('"')[0]
    assert base64.b64decode(data).decode() == svg


def test_html_stays_as_it_is():
    shown = figures(
        [
            Drawing("Words", "<p>a &lt; b</p>", "text/html"),
            Drawing("More", "<p>c</p>", "text/html"),
        ]
    )
    assert shown == (
        '<div class="figures">'
        "<figure><figcaption>Words</figcaption><p>a &lt; b</p></figure>"
        "<figure><figcaption>More</figcaption><p>c</p></figure></div>"
    )
    assert figures([]) == ""


def test_texts_are_escaped():
    assert "<i>" not in message("<i>") + heading("<i>", "<i>") + table("<i>", ["<i>"], [["<i>"]])


def test_no_text_is_no_message():
    assert message("") == ""
