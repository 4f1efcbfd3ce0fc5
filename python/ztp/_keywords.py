"""Errors for keywords that do not exist, with the one that is probably meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

# What other libraries, and earlier builds, call the keywords of ztp. A function suggests only those that it has.
_ALSO_CALLED = {
    "rank": "n_components n_factors num_factors factors n_topics num_topics latent_dim embedding_dim k",
    "sweeps": "n_iter max_iter n_iterations iterations n_samples num_samples samples epochs n_epochs",
    "burn_in": "burnin n_burnin n_burn warmup num_warmup n_warmup tune",
    "keep_every": "thin thinning",
    "draws": "n_draws num_draws max_draws",
    "chains": "n_chains num_chains",
    "random_state": "seed random_seed rng",
    "n_jobs": "threads n_threads num_threads cores workers num_workers",
    "minibatch": "batch_size",
    "dirichlet": "alpha concentration",
    "holdout": "test_size test_fraction validation_fraction",
    "kernel": "device backend",
    "progress": "verbose progressbar progress_bar show_progress",
    "self_cells": "self diagonal self_loops",
    "out": "run_dir path output file",
    "force": "overwrite replace",
    "network": "networks graph graphs adjacency side_information",
    "missing": "mask unobserved",
    "missing_slices": "missing_entities",
    "labels": "entities reading",
    "values": "reading",
    "format": "reading",
    "index_base": "reading",
    "top": "n topk top_k n_recommendations",
    "dims": "shape",
    "intervals": "return_std return_interval",
}

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def near(word: str, known: Sequence[str]) -> str:
    """' did you mean ...?' of the keywords that are like a word, or nothing."""
    meant = [name for name, others in _ALSO_CALLED.items() if name in known and word.lower() in others.split()]
    meant = meant or difflib.get_close_matches(word.lower(), known, n=1)
    return f"did you mean {' or '.join(map(repr, meant))}?" if meant else ""


def keywords_of(function: Callable[..., Any]) -> list[str]:
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds and p.name != "self"]


def unknown_keyword(
    what: str, word: str, known: Sequence[str], elsewhere: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> str:
    """The message for a keyword that `what` does not have. `elsewhere`: the keywords of a related function."""
    begin = f"{what} has no keyword {word!r}"
    for other, keywords in elsewhere.items():
        if word in keywords:
            return f"{begin}; it is a keyword of {other}"
    if text := near(word, known):
        return f"{begin}; {text}"
    for other, keywords in elsewhere.items():
        if text := near(word, keywords):
            return f"{begin}; {text[:-1]}, a keyword of {other}?"
    return f"{begin}; it has {', '.join(known) or 'none'}"


def suggests(
    function: Function, what: str = "", elsewhere: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Function:
    """The same function. A keyword that it does not have is a TypeError, as always, with a suggestion."""
    known = keywords_of(function)
    accepted = {*known, "self"}

    @functools.wraps(function)
    def checked(*positional: Any, **keywords: Any) -> Any:
        for word in keywords.keys() - accepted:
            raise TypeError(unknown_keyword(what or f"{function.__name__}()", word, known, elsewhere))
        return function(*positional, **keywords)

    return checked  # type: ignore[return-value]


# A keyword of the one is easily given to the other.
_RELATED = {"__init__": "fit", "fit": "__init__"}


def methods_suggest(kind: Class) -> Class:
    """The same class, with `suggests` for its constructor and its own public methods. Those that pass keywords on to
    others do not need it."""
    methods = {name: member for name, member in vars(kind).items() if not name.startswith("_")}
    methods["__init__"] = kind.__init__  # type: ignore[misc]
    titles = {name: (kind.__name__ if name == "__init__" else name) + "()" for name in methods}
    for name, member in methods.items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if not inspect.isfunction(function) or any(
            p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(function).parameters.values()
        ):
            continue
        related = _RELATED.get(name)
        elsewhere = {titles[related]: keywords_of(methods[related])} if related in methods else {}
        checked = suggests(function, titles[name], elsewhere)
        setattr(kind, name, classmethod(checked) if isinstance(member, classmethod) else checked)
    return kind
