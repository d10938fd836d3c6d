#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files and folders of this tree that README.md and docs/ name are there; a name may leave out how it begins."""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACES = ("userspace", "bpf", "jvmagent", "tests", "scripts", "docs")
NAMED = re.compile(r"`([\w.*-]*/[\w.*/-]*|[\w*-]+\.(?:c|h|def|py|sh|md|js|css|java))`|\]\(([\w./-]+)\)")
# What is made, and what belongs to others.
ELSEWHERE = re.compile(r"/|build/|jvmti\.h$")


def files():
    found = [path for place in PLACES for path in (ROOT / place).rglob("*") if path.is_file()]
    return ["/" + str(path.relative_to(ROOT)) for path in found + list(ROOT.glob("*"))]


def is_there(name, all_files):
    """A file by its name's end, a module without .c and .h, a folder; NAME stands for any."""
    pattern = "*/" + name.rstrip("/").replace("NAME", "*")
    ends = ("/*",) if name.endswith("/") else ("", ".[ch]", "/*")
    return any(fnmatch.filter(all_files, pattern + end) for end in ends)


def main():
    all_files, bad = files(), 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in (code or link for code, link in NAMED.findall(line)):
                if not ELSEWHERE.match(name) and not is_there(name, all_files):
                    print(f"{path.relative_to(ROOT)}:{number}: {name} is not in the tree")
                    bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
