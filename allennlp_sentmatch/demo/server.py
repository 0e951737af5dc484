"""Serves the page without any request to another machine, by the server or by the browser."""

import os
import socket
import sys
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived

from allennlp_sentmatch.demo.demo_model import DemoModel
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch
from allennlp_sentmatch.demo.middleware import RequestFilter, SecurityHeaders

MISSING_GRADIO = (
    "the demo needs the extra [demo]: pip install 'gradio>=6' matplotlib seaborn svgling"
)

MAX_SESSIONS = 200
"""The number of browser tabs that are remembered; each takes about 0.4 MiB."""

MAX_EVENTS = 5_000
"""The number of past requests that Gradio's queue remembers; more than can wait."""


def create_app(
    model: DemoModel, search: Optional[InMemorySearch] = None, allowed_hosts: Collection[str] = ()
) -> Any:
    """Create the page as an ASGI application.

    # Parameters

    model : `DemoModel`
    search : `InMemorySearch`, optional (default = `None`)
        The corpus to be searched on the page, if any.
    allowed_hosts : `Collection[str]`, optional (default = `()`)
        See `RequestFilter`.

    # Raises

    `ConfigurationError` if Gradio is not installed.
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
    from allennlp_sentmatch.demo.page import build_page
    from allennlp_sentmatch.demo.theme import STYLE_SHEET, theme

    _define_renamed_status()
    page = build_page(model, search)
    _bound_memory(page)
    no_documentation: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None}
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
    app.add_middleware(RequestFilter, allowed_hosts=allowed_hosts)
    app.add_middleware(SecurityHeaders)
    return app


def _define_renamed_status() -> None:
    """Define a constant that Gradio looks up in each request, and that Starlette 0.48 renamed.

    Starlette still finds it, with a deprecation warning. Gradio 6.18 and later use the new name
    but need huggingface-hub 1, which transformers 4 does not work with.
    """
    from starlette import status

    if "HTTP_422_UNPROCESSABLE_ENTITY" not in vars(status):
        status.HTTP_422_UNPROCESSABLE_ENTITY = 422


def _bound_memory(page: Any) -> None:
    """Let a page forget its oldest sessions and requests.

    Gradio keeps 10,000 sessions, and all past requests.
    """
    from gradio.utils import LRUCache

    page.state_session_capacity = MAX_SESSIONS
    page._queue.event_analytics = LRUCache(MAX_EVENTS)
    page._queue.event_ids_to_events = LRUCache(MAX_EVENTS)
    page._queue.pending_event_ids_session = LRUCache(MAX_EVENTS)


def serve(app: Any, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve the page until interrupted.

    # Raises

    `ConfigurationError` if the address cannot be bound.
    """
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"cannot serve at --host {host} --port {port}: {error.strerror}; is another "
            "program there?"
        ) from error
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    print(f"The page is at http://{shown}:{bound}/ (Ctrl-C ends it).", flush=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    # After shutting down, uvicorn raises the signal that ended it.
    with suppress(KeyboardInterrupt, SigTermReceived):
        uvicorn.Server(config).run(sockets=[listener])
