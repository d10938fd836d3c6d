# SPDX-License-Identifier: Apache-2.0
"""
Where the product can be broken at random, and how: one line each (mutate.py).

A change that a rule leaves out is given as (RULE, None), so that it can be counted.
"""
import collections
import hashlib
import re

# One line of a file and one way to break it. `nth` tells equal lines of a file apart.
Change = collections.namedtuple("Change", "file number nth old new how")

MANY, LENGTHS, SIZEOF = "constants above 64, one more", "lengths of arrays", "numbers in sizeof"
ALLOCATION, BACK = "numbers in allocations", "statements that only give something back"
LAST, VALUE, VOID = "last returns of functions", "declarations with a value", "(void)x"
SAME, MESSAGE, BPF = "arguments of MIN and MAX", "lines of messages and assertions", "lines for the BPF compiler only"
TABLE, MACRO = "numbers outside of functions", "lines of macros of several lines"

# Written with blanks around it, an operator is binary: clang-format sees to that.
SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/",
         "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "&&": "||", "||": "&&", "+=": "-=",
         "-=": "+=", "|=": "&=", "&=": "|="}
OPERATOR = re.compile(r"(?<= )(" + "|".join(re.escape(o) for o in sorted(SWAPS, key=len, reverse=True)) + r")(?= |$)")
NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])")
WORD = {"true": "false", "false": "true"}
DEFINE = re.compile(r"#\s*define\s+(\w+)\s+(.+[^\\])$")
# A message is not a figure of the profile; an assertion is no code.
SPARED = re.compile(r"\b(assert|static_assert|_Static_assert|log_\w+|_cleanup_\w*)\b|\b(fprintf|fputs)\(.*stderr")
DECLARATION = re.compile(r"\s*(static |const |extern |unsigned |signed |volatile )*"
                         r"(struct |enum |union )?\w+ \**\w+(\[[^\]]*\])*(, \**\w+(\[[^\]]*\])*)*;$")
STATEMENT = re.compile(r"\s*(return\b.*|continue|break|goto \w+|\(void\)\w.*|\*?[A-Za-z_][\w.>\[\]()*&+ -]*"
                       r"( [-+*/|&^%]?=| <<=| >>=| \|=) .*|[A-Za-z_][\w.>-]*\(.*\)|\S+(\+\+|--));$")
# A declaration with a value: without it the program does not compile.
INITIALISED = re.compile(r"\s*(const |static |struct |enum |unsigned )*\w+ \**\w+ = ")
# A leak is the sanitizer's to find, not the profile's reader.
GIVES_BACK = re.compile(r"\s*(\(void\))?(free|va_end|closep?|fclose|munmap|\w+_(release|free|unref|close))\(.*\);$")
# Of a limit or a size one more is no fault; no such constant is 0.
MAX_PLUS_ONE = 64
# More memory than is needed is no fault.
ALLOCATES = re.compile(r"\bx?(malloc|calloc|realloc)\(")
UNUSED = re.compile(r"\s*\(void\)\w+(, \(void\)\w+)*;$")
LENGTH = re.compile(r"^(\s*(?:static |const )*(?:struct )?\w+ \w+)\[[^\]]*\]")
PAIR = re.compile(r"(?<=[(, ])([A-Za-z_]\w*), ([A-Za-z_]\w*)(?=[,)])")
SYMMETRIC = re.compile(r"\b(MIN|MAX)\(\w+, \w+\)")


def masked(text):
    """TEXT with comments, strings and characters blanked; the same length and lines."""
    def blank(found):
        piece = found.group()
        keep = piece[0] if piece[0] in "\"'" else " "
        return keep + re.sub(r"[^\n]", " ", piece[1:-1]) + keep
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.DOTALL)


def replaced(line, found, new):
    return line[:found.start()] + new + line[found.end():]


def operator_changes(line, mask):
    for found in OPERATOR.finditer(mask):
        yield "operator", replaced(line, found, SWAPS[found.group()])
    for found in re.finditer(r"(\+\+|--)", mask):
        yield "operator", replaced(line, found, "--" if found.group() == "++" else "++")
    for found in re.finditer(r"!(?!=)", mask):
        yield "negation", replaced(line, found, "")


def constant_changes(line, mask):
    for found in re.finditer(r"sizeof\([^()]*\)", mask):
        yield from ((SIZEOF, None) for _ in NUMBER.finditer(found.group()))
    mask = re.sub(r"sizeof\([^()]*\)", lambda m: " " * len(m.group()), mask)
    for found in NUMBER.finditer(mask):
        if ALLOCATES.search(mask):
            yield ALLOCATION, None
            continue
        value, suffix = int(found.group(1), 16 if found.group(1)[:2] in ("0x", "0X") else 10), found.group(2)
        if value <= MAX_PLUS_ONE:
            yield "constant", replaced(line, found, f"{value + 1}{suffix}")
        else:
            yield MANY, None
        if value > 1:
            yield "constant", replaced(line, found, f"0{suffix}")
    for found in re.finditer(r"\b(true|false)\b", mask):
        yield "constant", replaced(line, found, WORD[found.group()])


def condition_changes(line, mask):
    found = re.match(r"(\s*(?:\} else )?(?:if|while) )\((.*)\)( \{)?$", mask)
    if found and found.group(2).count("(") == found.group(2).count(")"):
        begin, end = found.span(2)
        yield "condition", line[:begin] + "!(" + line[begin:end] + ")" + line[end:]


def argument_changes(line, mask):
    same = [found.span() for found in SYMMETRIC.finditer(mask)]
    for found in PAIR.finditer(mask):
        first, second = found.groups()
        inside = any(begin < found.start() < end for begin, end in same)
        if first != second and "(" in mask[:found.start()]:
            yield (SAME, None) if inside else ("arguments", replaced(line, found, f"{second}, {first}"))


def begins_statement(before):
    """Is the line behind the line BEFORE the first of a statement?"""
    before = before.strip()
    return not before or before[-1] in ";{}:" or before == "else" or re.match(r"(if|for|while|else if) \(.*\)$", before)


def removal(line, mask, before):
    indent = re.match(r"\t*", mask).group()
    if not STATEMENT.match(mask) or mask.count("(") != mask.count(")") or not begins_statement(before):
        return
    # The last return of a function says its result: without it the program means nothing.
    rules = {LAST: re.compile(r"\treturn\b"), VALUE: INITIALISED, BACK: GIVES_BACK, VOID: UNUSED}
    yield next(((rule, None) for rule, what in rules.items() if what.match(mask)), ("removed", f"{indent};"))


def body_lines(masks):
    """Line numbers (from 0) within functions: from "{" to "}" in the first column."""
    inside = False
    for at, mask in enumerate(masks):
        if mask == "{":
            inside = True
        elif mask.startswith("}"):
            inside = False
        elif inside and mask.strip() and not mask.startswith("#"):
            yield at


def line_changes(line, mask, before):
    if SPARED.search(mask):
        return [(MESSAGE, None)]
    if DECLARATION.match(mask):
        return [(LENGTHS, None)] * len(NUMBER.findall(mask))
    # An array's length in a declaration is no behaviour.
    code = LENGTH.sub(lambda m: m.group(1).ljust(len(m.group())), mask)
    lengths = len(NUMBER.findall(mask)) - len(NUMBER.findall(code))
    changes = [*operator_changes(line, code), *constant_changes(line, code), *condition_changes(line, code),
               *argument_changes(line, code), *removal(line, mask, before), *[(LENGTHS, None)] * lengths]
    return [c for c in changes if c[1] != line]


def define_changes(line, mask, define):
    if define.group(1).endswith("_H"):
        return []
    start = define.start(2)
    return [(how, new and line[:start] + new) for how, new in constant_changes(line[start:], mask[start:])]


def bpf_lines(masks):
    """Line numbers (from 0) that only the BPF compiler sees."""
    open_ifs = []
    for at, mask in enumerate(masks):
        if re.match(r"#\s*if", mask):
            open_ifs.append(re.match(r"#\s*ifdef __bpf__$", mask) is not None)
        elif re.match(r"#\s*el", mask) and open_ifs:
            open_ifs[-1] = re.match(r"#\s*ifndef __bpf__$", mask) is not None
        elif re.match(r"#\s*endif", mask) and open_ifs:
            open_ifs.pop()
        elif any(open_ifs):
            yield at


def file_changes(name, text):
    """All changes of a file, as lists by line; and what of each line is left out."""
    lines, masks = text.split("\n"), masked(text).split("\n")
    masks = [mask.rstrip() for mask in masks]
    inside, bpf, seen = set(body_lines(masks)), set(bpf_lines(masks)), collections.Counter()
    for at, (line, mask) in enumerate(zip(lines, masks)):
        nth = seen[line]
        seen[line] += 1
        define = DEFINE.match(mask)
        if at in inside:
            found = line_changes(line, mask, masks[at - 1])
        elif define:
            found = define_changes(line, mask, define)
        elif mask.endswith("\\") or (at and masks[at - 1].endswith("\\")):
            found = [(MACRO, None)]
        else:
            found = [(TABLE, None)] * (len(NUMBER.findall(mask)) if not mask.startswith("#") else 0)
        if at in bpf and any(new for _, new in found):
            found = [(BPF, None)]
        left = [how for how, new in found if new is None]
        yield [Change(name, at + 1, nth, line, new, how) for how, new in dict.fromkeys(found) if new is not None], left


def draw(files, seed):
    """
    Changes of FILES ({name: text}) in the order in which they are drawn, one per line. The order of two
    lines depends on themselves alone, so that a seed means the same after a change elsewhere. And how many
    changes each rule leaves out.
    """
    def key(change, *more):
        word = "\0".join(str(w) for w in (seed, change.file, change.old, change.nth, *more))
        return hashlib.sha256(word.encode()).digest()

    found, left = [], collections.Counter()
    for name, text in files.items():
        for place, rules in file_changes(name, text):
            left.update(rules)
            if place:
                found.append(place)
    found.sort(key=lambda place: key(place[0]))
    return [min(place, key=lambda c: key(c, c.how, c.new)) for place in found], left
