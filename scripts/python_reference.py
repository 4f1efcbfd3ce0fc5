#!/usr/bin/env python3
"""Prints docs/python-api.md: the public names of the installed package ztp, from their docstrings.

    scripts/python_reference.py > docs/python-api.md

A test compares the two (python/tests/test_package.py).
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import ztp
import ztp.datasets

WIDTH = 120


def signature(name: str, function: Any) -> str:
    """As it is written, without self, on as many lines as it needs."""
    written = inspect.signature(function)
    parameters: list[str] = []
    for parameter in written.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        # annotations are text (from __future__ import annotations), and are shown without the quotes
        parameters.append(re.sub(r": '([^']*)'", r": \1", str(parameter)))
    returns = written.return_annotation
    arrow = "" if returns in (inspect.Signature.empty, "None", None) else f" -> {returns}"
    line = f"{name}({', '.join(parameters)}){arrow}"
    if len(line) <= WIDTH:
        return line
    unbroken = ", ".join(parameter.replace(" ", "\0") for parameter in parameters)
    wrapped = textwrap.fill(unbroken, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return f"{name}(\n{wrapped},\n){arrow}".replace("\0", " ")


def links(text: str) -> str:
    """`name` stays code; ``text`` of reStructuredText becomes code of Markdown."""
    return re.sub(r"``([^`]*)``", r"`\1`", text)


def entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The entries of a section of numpydoc: `name : type`, and what is indented below."""
    head, body = None, []  # type: tuple[str | None, list[str]]
    for line in [*lines, "end"]:
        if line.strip() == "" or line.startswith(" "):
            body.append(line.strip())
            continue
        if head is not None:
            yield head, " ".join(part for part in body if part)
        head, body = line, []


def section(title: str, lines: list[str]) -> str:
    if title == "Examples":
        return "**Examples**\n\n```python\n" + "\n".join(lines).strip() + "\n```"
    listed = [line for line in lines if line.strip()]
    if title == "Returns":
        return "**Returns** " + links(" ".join(line.strip() for line in listed))
    # what follows the list, after an empty line and without indentation, is text
    last = max((i for i, line in enumerate(lines) if line.startswith(" ")), default=-1)
    items, rest = lines[: last + 1], lines[last + 1 :]
    if last == -1:
        items, rest = lines, []
    shown = [f"**{title}**", ""]
    for head, body in entries(items):
        name, _, kind = head.partition(" : ")
        shown.append(f"- `{name}`" + (f" ({links(kind)})" if kind else "") + (f": {links(body)}" if body else ""))
    text = links("\n".join(rest).strip())
    return "\n".join(shown) + (f"\n\n{text}" if text else "")


def example(found: re.Match[str]) -> str:
    """The indented block after `::`, which the tests of the docs run if they can."""
    code = textwrap.dedent(found[1]).strip()
    marker = "<!-- not run: needs the network -->\n" if "fetch_" in code else ""
    return f":\n\n{marker}```python\n{code}\n```\n\n"


def docstring(text: str | None) -> str:
    """Of numpydoc to Markdown."""
    lines = inspect.cleandoc(text or "").splitlines()
    starts = [i for i in range(len(lines) - 1) if lines[i].strip() and re.fullmatch(r"-{3,}", lines[i + 1].strip())]
    first = starts[0] if starts else len(lines)
    prose = "\n".join(lines[:first]).strip()
    parts = [re.sub(r"::\n\n((?:(?: {4}.*)?(?:\n|$))+)", example, links(prose))]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        parts.append(section(lines[start].strip(), lines[start + 2 : end]))
    return "\n\n".join(part for part in parts if part)


def fields(kind: type) -> Iterator[str]:
    """Of a dataclass: each with the text below it, which only the source has."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # type: ignore[attr-defined]
    for here, below in zip(body, body[1:], strict=False):
        if isinstance(here, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            about = " ".join(str(below.value.value).split())
            yield f"- `{ast.unparse(here.target)}` ({ast.unparse(here.annotation)}): {links(about)}"


def members(kind: type) -> Iterator[str]:
    """Properties and methods, in the order of the source; then those of bases that are not public."""
    bases = [base for base in kind.__mro__[1:] if base.__module__.startswith("ztp.") and base.__name__.startswith("_")]
    for name, member in [item for owner in (kind, *bases) for item in vars(owner).items()]:
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            about = docstring(member.fget.__doc__ if member.fget else "")
            yield f"### {kind.__name__}.{name}\n\n{about}"
        elif isinstance(member, (staticmethod, classmethod)) or inspect.isfunction(member):
            function = getattr(kind, name)
            code = f"```python\n{signature(name, function)}\n```"
            yield f"### {kind.__name__}.{name}\n\n{code}\n\n{docstring(function.__doc__)}"


def public_class(kind: type) -> Iterator[str]:
    yield f"## {kind.__name__}"
    if dataclasses.is_dataclass(kind):
        yield docstring(kind.__doc__)
        yield "\n".join(fields(kind))
    else:
        yield f"```python\n{signature(kind.__name__, kind.__init__)}\n```"  # type: ignore[misc]
        yield docstring(kind.__doc__)
    yield from members(kind)


def public_function(heading: str, name: str, function: Any) -> str:
    return f"{heading} {name}\n\n```python\n{signature(name, function)}\n```\n\n{docstring(function.__doc__)}"


def reference() -> Iterator[str]:
    yield "# Python: reference"
    yield "Made from the docstrings by `scripts/python_reference.py`; do not edit."
    yield docstring(ztp.__doc__)
    yield (
        "A `Mode` is the name of a mode or its position, from 0; `ByMode` is a dict with modes as keys. "
        "`np` is "
        "numpy, `pd` is pandas."
    )
    names = [name for name in ztp.__all__ if not name.startswith("_")]
    # the model first, then what it gives, then the functions
    for name in sorted(
        names, key=lambda name: (name != "TensorFactorization", name != "Posterior", name.islower(), name)
    ):
        public = getattr(ztp, name)
        if inspect.isclass(public):
            yield from public_class(public)
        else:
            yield public_function("##", name, public)
    yield f"## ztp.datasets\n\n{docstring(ztp.datasets.__doc__)}"
    for name in ztp.datasets.__all__:
        yield public_function("###", name, getattr(ztp.datasets, name))


if __name__ == "__main__":
    print("\n\n".join(reference()))
