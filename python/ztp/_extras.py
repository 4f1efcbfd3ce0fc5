"""Packages that are installed only where somebody asks for them: the optional extras of ztp."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, extra: str, what: str) -> Any:
    """Imports a module for `what` needs it; an ImportError names the extra that has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{what} needs the package {package}, which cannot be imported ({error}): pip install 'ztp[{extra}]'"
        ) from error
