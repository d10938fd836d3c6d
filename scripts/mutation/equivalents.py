# SPDX-License-Identifier: Apache-2.0
"""Changes that change nothing: scripts/mutate-equivalent.txt.

An entry is a file's name, the line and what becomes of it, and why no test can tell them apart:

    userspace/base/units.c
    - if (n < 0)
    + if (n <= 0)
    Zero was handled above.
"""
from .tree import ROOT

PATH = ROOT / "scripts" / "mutate-equivalent.txt"


def key(change):
    return change.file, change.old.strip(), change.new.strip()


def read():
    """{(file, old, new): reason}"""
    entries = {}
    for block in PATH.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.strip().split("\n") if line and not line.startswith("#")]
        if not lines:
            continue
        if len(lines) < 4 or not lines[1].startswith("- ") or not lines[2].startswith("+ "):
            raise SystemExit(f"{PATH.name}: not an entry:\n{block}")
        entries[lines[0], lines[1][2:], lines[2][2:]] = " ".join(lines[3:])
    return entries


def stale():
    """Entries whose line is not in its file any more."""
    texts = {}
    for name, old, _ in read():
        if name not in texts:
            path = ROOT / name
            lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
            texts[name] = {line.strip() for line in lines}
        if old not in texts[name]:
            yield f"{name}: {old}"
