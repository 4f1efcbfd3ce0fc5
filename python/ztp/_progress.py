"""Progress bar and warnings of a fit."""

from __future__ import annotations

import logging
import math
import os
import sys
import warnings
from types import TracebackType
from typing import Any

from . import _core

logger = logging.getLogger("ztp")


def log_warnings(warnings_of_data: list[str]) -> None:
    """Logs warnings about data. Zeros are only worth an info: y may have them."""
    for text in warnings_of_data:
        logger.log(logging.INFO if text.endswith("with value zero are ignored") else logging.WARNING, "%s", text)


def warn(text: str) -> None:
    """A warning; its place is the line that called the package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def _is_interactive() -> bool:
    """Whether this is a terminal or a notebook."""
    shell = sys.modules.get("IPython")
    in_notebook = shell is not None and hasattr(shell.get_ipython(), "kernel")
    return in_notebook or (sys.stderr is not None and sys.stderr.isatty())


class Progress:
    """The listener of a fit. With show=None there is a bar in terminals and notebooks."""

    def __init__(self, show: bool | None, command: str) -> None:
        self._command = command
        self._bar: Any = None
        if _is_interactive() if show is None else show:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tqdm's, of a notebook without widgets, where it draws text
                from tqdm.auto import tqdm

                self._bar = tqdm(unit="sweep", desc="ztp")

    def _on_sweep(self, done: int, planned: int, log_likelihood: float, occupied: int, auc: float) -> None:
        numbers = {"components": occupied}
        if not math.isnan(log_likelihood):
            numbers["log-likelihood"] = f"{log_likelihood:.6g}"  # type: ignore[assignment]
        if not math.isnan(auc):
            numbers["AUC"] = f"{auc:.4f}"  # type: ignore[assignment]
        self._bar.set_postfix(numbers, refresh=False)
        self._bar.total = planned  # a fit until converged plans round by round
        self._bar.update(done - self._bar.n)  # draws ten times a second at most

    def __enter__(self) -> _core.Listener:
        # (not kept: with the listener it has, this would be a cycle that nothing collects)
        on_sweep = self._on_sweep if self._bar is not None else None
        return _core.Listener(on_sweep, logger.info, logger.warning, self._command)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
