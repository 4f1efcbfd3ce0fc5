"""Coordinates are copied once."""

from __future__ import annotations

import subprocess
import sys

# In a process of its own, since a peak is of a process. 4 million cells in no order, 48 MB as ids of 32 bits.
PROGRAM = """
import re
import numpy as np
from ztp import _core
from ztp._arguments import fit_arrays

def memory(what):  # VmRSS now, VmHWM at the peak
    return int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024

rng = np.random.default_rng(1)
X = rng.integers(0, 100_000, (4_000_000, 3))
fit_arrays(X[:10], None, None, None, None, None, None, False)  # what is loaded late
before = memory("VmRSS")
data = _core.make_data(fit_arrays(X, None, None, None, None, None, None, False), False)
assert data.ones > 3_900_000
print((memory("VmHWM") - before) / (X.size * 4))
"""


def test_one_copy_of_the_coordinates() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert 0.9 < float(done.stdout) < 1.1  # copies at the peak, beyond the array itself
