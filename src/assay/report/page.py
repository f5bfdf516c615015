"""The page: templates, styles and scripts put together into one file that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import altair
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from assay.core.errors import AnalysisError
from assay.report.encode import script_hash

_STYLES = ("base.css", "tables.css", "plots.css", "items.css", "print.css")
_SCRIPTS = ("core.js", "tables.js")
_CHARTS = "charts.js"
_TEMPLATES = "templates"
_EXPORT = "window.vegaEmbed = vegaEmbed;"


def render_page(
    context: dict[str, Any],
    *,
    template: str = "index.html",
    scripts: Sequence[str] = ("itemview.js", "itemlist.js"),
) -> str:
    """Return the page with everything it needs inside it.

    The content security policy admits the scripts written here, by their hash, and the chunks of
    answers that lie beside the page; text from a benchmark or a model is never code.

    Parameters
    ----------
    template : str
        The page's own template.
    scripts : sequence of str
        Its own scripts, beside those that every page has.
    """
    # What a page lists is started before Vega, the largest script by far, is read.
    sources = [*(_asset(name) for name in (*_SCRIPTS, *scripts)), _vega(), _asset(_CHARTS)]
    for script in sources:
        if "</script" in script.lower():
            raise AnalysisError("a script of the report would end its own element.")
    environment = Environment(
        loader=PackageLoader("assay.report", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(
        context,
        styles=[Markup(_asset(name)) for name in _STYLES],  # noqa: S704 - our own files
        scripts=[Markup(script) for script in sources],  # noqa: S704 - our own files
        policy=_policy(sources),
    )


def _policy(scripts: list[str]) -> str:
    hashes = " ".join(script_hash(script) for script in scripts)
    return "; ".join(
        [
            "default-src 'none'",
            # `file:` is where the chunks are when the page is opened from a folder.
            f"script-src 'self' file: {hashes}",
            "style-src 'unsafe-inline'",
            "img-src 'self' file: data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that leaves no names behind."""
    spoken = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return f"(()=>{{{vl_convert.javascript_bundle(_EXPORT, vl_version=spoken)}}})();"


@cache
def _asset(name: str) -> str:
    return files("assay.report").joinpath(_TEMPLATES, name).read_text("utf-8")
