"""Serving the page, so that neither the server nor the browser asks anyone else for anything."""

import logging
import os
import socket
from contextlib import suppress
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived

from allennlp_sentmatch.demo.demo_model import DemoModel
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch

logger = logging.getLogger(__name__)

MISSING_GRADIO = (
    "the demo needs the extra [demo]: pip install 'gradio>=6' matplotlib seaborn svgling"
)

POLICY = "; ".join(
    [
        "default-src 'self'",
        # Gradio's page has scripts in it and compiles templates.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    ]
)
"""What the browser may load, run and connect to: what comes from this server."""


def create_app(model: DemoModel, search: Optional[InMemorySearch] = None) -> Any:
    """The page as an ASGI application.

    # Parameters

    model : `DemoModel`
    search : `InMemorySearch`, optional (default = `None`)
        The corpus to be searched on the page, if any.

    # Raises

    `ConfigurationError` where Gradio is not installed.
    """
    # Read when Gradio is imported: no analytics, no look for a newer version.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    try:
        import gradio
        from fastapi import FastAPI
    except ImportError as error:
        raise ConfigurationError(MISSING_GRADIO) from error
    if int(gradio.__version__.split(".")[0]) < 6:
        raise ConfigurationError(f"{MISSING_GRADIO} (found {gradio.__version__})")
    from allennlp_sentmatch.demo.page import build_page
    from allennlp_sentmatch.demo.theme import STYLE_SHEET, theme

    # Not by Gradio's `launch`, which asks its own server for a page through the proxy, if one is
    # set, and offers to share.
    app = gradio.mount_gradio_app(
        FastAPI(docs_url=None, redoc_url=None, openapi_url=None),
        build_page(model, search),
        path="/",
        theme=theme(),
        css_paths=STYLE_SHEET,
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        enable_monitoring=False,
        max_file_size=0,  # nothing here is uploaded
    )
    app.add_middleware(ContentSecurityPolicy)
    return app


class ContentSecurityPolicy:
    """ASGI middleware that sends `POLICY` with every response."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""

        async def send_with_policy(event: Any) -> None:
            if event["type"] == "http.response.start":
                headers = [
                    (b"content-security-policy", POLICY.encode()),
                    (b"referrer-policy", b"no-referrer"),
                    (b"x-content-type-options", b"nosniff"),
                ]
                event = {**event, "headers": [*event["headers"], *headers]}
            await send(event)

        await self._app(scope, receive, send_with_policy)


def serve(app: Any, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve the page until interrupted.

    # Raises

    `ConfigurationError` where the address cannot be bound.
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
    logger.info("The page is at http://%s:%d/ (Ctrl-C ends it).", shown, bound)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    # Once it has shut down, uvicorn raises what it was ended by.
    with suppress(KeyboardInterrupt, SigTermReceived):
        uvicorn.Server(config).run(sockets=[listener])
