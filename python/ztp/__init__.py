"""Bayesian factorization of massive sparse binary tensors.

An example::

    import ztp
    model = ztp.TensorFactorization(rank=20, sweeps=500)
    model.fit(frame)                      # one observed cell per row, one column per mode
    model.predict(cells, intervals=True)  # probabilities with uncertainty
    model.components()                    # the topics

`TensorFactorization` fits and predicts, with the conventions of scikit-learn. `Posterior` opens any run directory, also
one made by the command line. `split` and `simulate` make data to try things on. Messages go to the logger ``ztp``.
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
