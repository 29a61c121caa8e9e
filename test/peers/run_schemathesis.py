"""Runs schemathesis, with a fast way to make the one value that takes it a minute.

From a pattern, Hypothesis draws a string character by character until one has the wanted length. An
address of 2,049 characters, one too many, takes it 50 seconds.
"""

import sys

from schemathesis.cli import schemathesis
from schemathesis.specs.openapi.coverage import _schema

ADDRESS = "https://ward.example/"

draw = getattr(_schema, "_generate_oversized_string", None)


def oversized(ctx, schema, length):
    patterns = [each.get("pattern", "") for each in schema.get("anyOf", [])]
    if any(pattern.startswith("^https?://") for pattern in patterns):
        return ADDRESS.ljust(length, "a")
    return draw(ctx, schema, length)


# The function is private to schemathesis. Without it, the run only takes longer.
if draw is not None:
    _schema._generate_oversized_string = oversized
sys.exit(schemathesis())
