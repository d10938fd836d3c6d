#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other processes' memory and files are reached through wall/ only: who reads them may wait for ever."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What nobody else may use, and why it is refused.
REFUSED = {
    r"\bprocess_vm_readv\s*\(": "memory of another process: wall_read_memory()",
    r"\bopenat2\s*\(|SYS_openat2": "a path of somebody else's: wall_open_in_root()",
    r"\bforeign_file_(?:find|find_in_root|reopen|copy|open_memfd)\s*\(": "the wall's own: wall_open() and its like",
    r'"/proc/%u/(?:maps|cmdline|environ|mem|smaps|auxv)"[^;]*;[^;]*\b(?:open|fopen|file_read)\s*\(':
        "a file that reads the memory of its process: wall_read_file()",
}
# Attaching opens paths in its target's root, in threads that nobody waits for.
EXEMPT = {"userspace/jvm/attach/attach_target.c"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def complaints(path):
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
    for pattern, why in REFUSED.items():
        for match in re.finditer(pattern, text):
            yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {why}"


def main():
    found = [line for path in sorted((ROOT / "userspace").rglob("*.[ch]")) if path.parent.name != "wall" and str(path.relative_to(ROOT)) not in EXEMPT
             for line in complaints(path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
