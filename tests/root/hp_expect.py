# SPDX-License-Identifier: Apache-2.0
"""What a test demands, and how it says that it was not so."""
import re


class Failed(Exception):
    """An expectation was not met."""


class Skipped(Exception):
    """The test cannot say anything here."""


def expect(condition, why):
    """Fail with WHY unless CONDITION."""
    if not condition:
        raise Failed(why)


def expect_equal(came, wanted, what="value"):
    if came != wanted:
        raise Failed(f"{what}: expected {wanted!r}, came {came!r}")


def expect_in(part, text, what="text"):
    if part not in text:
        raise Failed(f"{what}: {part!r} is missing in {shorten(text)}")


def expect_not_in(part, text, what="text"):
    if part in text:
        raise Failed(f"{what}: {part!r} must not be in {shorten(text)}")


def expect_match(pattern, text, what="text"):
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise Failed(f"{what}: nothing matches {pattern!r} in {shorten(text)}")
    return found


def expect_between(came, low, high, what="value"):
    if not low <= came <= high:
        raise Failed(f"{what}: expected {low} .. {high}, came {came}")


def skip(why):
    raise Skipped(why)


def shorten(text, limit=2000):
    text = repr(text)
    return text if len(text) <= limit else text[:limit] + "…"
