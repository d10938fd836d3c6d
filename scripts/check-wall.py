#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other processes' memory and files are reached through wall/ only: who reads them may wait for ever. What is in them is
parsed by readers only: who parses them may be taken over."""
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
# What only a reader may do with bytes of others.
PARSERS = {
    r"\belf_file_open(?:_memory)?\s*\(": "a file is parsed: elf/reader/ has that done",
    r"\bimage_parse_open(?:_memory)?\s*\(": "a file is parsed: elf/reader/ has that done",
    r"\bcfi_file_open(?:_memory)?\s*\(": "a file is parsed: elf/reader/ has that done",
    r"\bdemangle\s*\(": "a name is parsed: reader_demangle()",
}
# The parsers, who carries out what readers are asked for, and the vDSO, which is the kernel's.
PARSING = {"userspace/elf/elf_file.c", "userspace/elf/elf_file.h", "userspace/elf/image_parse.c", "userspace/elf/image_parse.h",
           "userspace/elf/demangle.c", "userspace/elf/demangle.h", "userspace/elf/cfi/cfi_file.c", "userspace/elf/cfi/cfi_file.h",
           "userspace/elf/reader/reader_trade.c", "userspace/elf/reader/reader_serve_file.c", "userspace/elf/reader/reader_serve_probe.c", "userspace/elf/reader/reader_serve_cfi.c", "userspace/elf/reader/reader_cfi.c",
           "userspace/elf/image_content.c"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def complaints(path, refused):
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
    for pattern, why in refused.items():
        for match in re.finditer(pattern, text):
            yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {why}"


def refused_in(path):
    name = str(path.relative_to(ROOT))
    wall = {} if path.parent.name == "wall" or name in EXEMPT else REFUSED
    return wall if name in PARSING else wall | PARSERS


def main():
    found = [line for path in sorted((ROOT / "userspace").rglob("*.[ch]")) for line in complaints(path, refused_in(path))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
