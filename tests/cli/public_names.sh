#!/bin/sh
# The public declarations and flags are those that are listed in tests/public (docs/stability.md).
exec python3 "$2/tests/public/public_names.py" check "$1"
