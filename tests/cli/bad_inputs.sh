#!/bin/sh
# The corpus of bad inputs, tests/bad_inputs: each gets exactly the message that is written there.
exec python3 "$2/tests/cli/bad_inputs.py" "$@"
