"""Bayesian factorization of massive sparse binary tensors.

Five lines::

    import ztp
    model = ztp.TensorFactorization(rank=20, sweeps=500)
    model.fit(frame)                     # a row for each one, a column for each mode
    model.predict(cells, intervals=True)  # probabilities with uncertainty
    model.components()                   # what goes together

`TensorFactorization` fits and predicts, in scikit-learn's manner. `Posterior` opens any run directory, also one that
the command line has made. `split` and `simulate` make data to try things on. What happens is logged by the logger
``ztp``.
"""

from ._core import version as __version__
from ._data import Simulation, Split, simulate, split
from ._estimator import TensorFactorization
from ._posterior import Posterior
from ._run import Diagnosis

__all__ = [
    "Diagnosis",
    "Posterior",
    "Simulation",
    "Split",
    "TensorFactorization",
    "__version__",
    "simulate",
    "split",
]
