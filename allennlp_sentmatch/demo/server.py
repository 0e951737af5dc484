"""The page as an application, which makes no request to another machine."""

import os
import sys
from asyncio import Queue
from collections import deque
from collections.abc import Collection
from typing import Any, Callable, Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.demo.demo_model import DemoModel, InMemorySearch
from allennlp_sentmatch.demo.middleware import RequestFilter

MISSING_GRADIO = (
    "the demo needs the extra [demo]: pip install 'gradio>=6' matplotlib seaborn svgling"
)

MAX_SESSIONS = 200
"""The number of browser tabs that are remembered; each takes about 0.4 MiB."""

MAX_EVENTS = 1_000
"""The number of past requests that Gradio's queue remembers; more than can wait."""

MAX_UNREAD = 100
"""The number of messages to a browser tab that wait until it reads them."""


def create_app(
    model: DemoModel, search: Optional[InMemorySearch] = None, allowed_hosts: Collection[str] = ()
) -> Any:
    """Create the page as an ASGI application.

    It searches a corpus if there is one; see `check_names` for `allowed_hosts`.
    """
    # Read when Gradio is imported: no analytics, no look for a newer version.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    # Read when a queue is made: otherwise it computes statistics of all past requests after each.
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = str(sys.maxsize)
    try:
        import gradio
        from fastapi import FastAPI
    except ImportError as error:
        raise ConfigurationError(MISSING_GRADIO) from error
    if int(gradio.__version__.split(".")[0]) < 6:
        raise ConfigurationError(f"{MISSING_GRADIO} (found {gradio.__version__})")
    from starlette import status

    from allennlp_sentmatch.demo.page import STYLE_SHEET, build_page, theme

    # Gradio 6.17 looks it up in each request, and Starlette renamed it and warns. Gradio 6.18 needs
    # huggingface-hub 1, which transformers 4 does not work with.
    vars(status).setdefault("HTTP_422_UNPROCESSABLE_ENTITY", 422)
    page = build_page(model, search)
    _bound_memory(page)
    no_documentation: Any = {"docs_url": None, "redoc_url": None, "openapi_url": None}
    # Not Gradio's `launch`, which requests a page from its own server through the proxy, if one is
    # set, and offers to share.
    app = gradio.mount_gradio_app(
        FastAPI(**no_documentation),
        page,
        path="/",
        theme=theme(),
        css_paths=STYLE_SHEET,
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        enable_monitoring=False,
        max_file_size=0,  # nothing is uploaded
        app_kwargs=no_documentation,
    )
    functions = {
        index: [component.api_info() for component in function.inputs]
        for index, function in page.fns.items()
        if function.fn is not None  # the others run in the browser
    }
    sessions = page._queue.pending_messages_per_session
    app.add_middleware(
        RequestFilter, functions=functions, sessions=sessions, allowed_hosts=allowed_hosts
    )
    return app


def _bound_memory(page: Any) -> None:
    """Let a page forget its oldest sessions, requests and unread messages.

    Gradio keeps 10,000 sessions, and all past requests. It forgets the tabs before the last 2,000
    with requests, but stops for good when one of them still waits.
    """
    from gradio.utils import LRUCache

    class Recent(LRUCache):  # type: ignore[type-arg]
        """The last containers, each without its oldest elements. A forgotten one is empty."""

        def __init__(
            self, new: Callable[[], Any], length: Callable[[Any], int], drop: Callable[[Any], Any]
        ) -> None:
            super().__init__(MAX_EVENTS)
            self._new, self._length, self._drop = new, length, drop

        def __getitem__(self, key: str) -> Any:
            if key not in self:
                return self._new()
            container = super().__getitem__(key)
            if self._length(container) > MAX_UNREAD:
                self._drop(container)
            return container

    page.state_session_capacity = MAX_SESSIONS
    queue = page._queue
    queue.pending_messages_per_session = Recent(Queue, Queue.qsize, Queue.get_nowait)
    queue.pending_event_ids_session = Recent(set, len, set.pop)
    queue.event_analytics = Recent(dict, len, dict.clear)
    queue.event_ids_to_events = LRUCache(MAX_EVENTS)
    queue._asyncio_tasks = deque(maxlen=MAX_EVENTS)
