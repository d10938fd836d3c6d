# SPDX-License-Identifier: Apache-2.0
"""What was seen of a cell (a case on a JDK): its samples, those that are bad, and the leaves that were reached."""
import collections
import math

import gates
from java_stacks import UNWRITTEN

# `reasons`: of the bad ones. `noted`: accepted, but counted. `reached` and `below`: samples that have a leaf, and
# what it works in; `due`: those that must have it by the program's own clock; both by leaf.
Row = collections.namedtuple("Row", "samples reasons examples noted reached below due")
EMPTY = collections.Counter()
NO_ROW = Row(0, EMPTY, {}, EMPTY, EMPTY, EMPTY, EMPTY)
OTHERS = "jvm threads"
# More than this share of accepted stacks that have no method's name at their end are bad.
MOST_NOTED = 0.02
# The clock is read inside of the leaf's frame, and interruptions are not counted, so that it says less than a
# profile shows; caches that it fills make it say more.
CLOCK_ERROR = 0.15
SIGMAS = 4
# A walk that userspace finishes late finds another method where classes are redefined all the time, and says so. Six JVMs that are met at once
# have their first walks finished late. These are bad, too, but a cell that redefines may have this share of them besides.
LATE, LATE_SHARE = ("[evicted]", "without a name: [interpreted]"), 0.005
REDEFINING = "deopt"


def row_of(line, verdict, below=False):
    leaf = {verdict.leaf: line.count} if verdict.leaf and verdict.good else {}
    row = NO_ROW._replace(samples=line.count, reached=collections.Counter(leaf),
                          below=collections.Counter(leaf if below else {}))
    if verdict.good:
        return row._replace(noted=collections.Counter({verdict.noted: line.count} if verdict.noted else {}))
    text = f"{line.count} x {line.thread} {';'.join(line.frames)}"
    return row._replace(reasons=collections.Counter({verdict.why: line.count}), examples={verdict.why: [text]})


def missing_row(count, why):
    """A sample that is not there is one that is not whole."""
    return NO_ROW._replace(samples=count, reasons=collections.Counter({why: count} if count > 0 else {}))


def add_rows(one, other, limit=5):
    examples = dict(one.examples)
    for why, texts in other.examples.items():
        examples[why] = (examples.get(why, []) + texts)[:limit]
    sums = {name: getattr(one, name) + getattr(other, name)
            for name in ("samples", "reasons", "noted", "reached", "below", "due")}
    return Row(examples=examples, **sums)


def sum_of(rows):
    whole = NO_ROW
    for row in rows:
        whole = add_rows(whole, row, limit=1)
    return whole


def bad(row):
    """Also what is accepted, where it is more than it can be."""
    noted = row.noted.total()
    return sum(row.reasons.values()) + (noted if noted > most_noted(row.samples) else 0)


def most_noted(samples):
    return MOST_NOTED * samples + SIGMAS * math.sqrt(MOST_NOTED * samples) + 1


def most_bad(row, name=""):
    """Without those of LATE that the cell NAME may have besides."""
    return gates.most_bad(row.samples) + (min(late(row), gates.most_bad(row.samples, LATE_SHARE)) if name.startswith(REDEFINING) else 0)


def late(row):
    return sum(row.reasons[why] for why in LATE)


def short_leaves(row, shares):
    """Leaves that too few samples reach, or that have too little below them; SHARES is BELOW_LEAF."""
    short = []
    for leaf, due in sorted(row.due.items()):
        least = due * (1 - CLOCK_ERROR) - SIGMAS * math.sqrt(due)
        if row.reached[leaf] < least:
            short.append(f"{row.reached[leaf]} samples reach {leaf}, by its clock {due:.0f}")
    for leaf, (share, _) in sorted(shares.items()):
        count = row.reached[leaf]
        if row.below[leaf] < share * count - SIGMAS * math.sqrt(share * count):
            short.append(f"{row.below[leaf]} of {count} samples of {leaf} have what it works in")
    return short


def misses_of(rows, where, shares):
    """What of these cells, by name, is not as it must be, in words."""
    misses = [f"{name}{where}: {bad(row)} of {row.samples} are bad, at most {most_bad(row, name)}"
              for name, row in rows.items() if bad(row) > most_bad(row, name)]
    return misses + [f"{name}{where}: {short}" for name, row in rows.items()
                     for short in short_leaves(row, shares)]


def misses_of_sum(rows, shares):
    """The same of all cells of a suite together."""
    whole = sum_of(rows)
    # A tenth of all samples is of cells that redefine.
    most = gates.most_bad_of_suite(whole.samples) + min(late(whole), gates.most_bad(whole.samples, LATE_SHARE / 10))
    print(f"# all cells: {bad(whole)} of {whole.samples} are bad, {whole.reasons[UNWRITTEN]} of them {UNWRITTEN}, {late(whole)} late; at most {most}; "
          f"{whole.reached.total()} reach a leaf, by the clocks {whole.due.total():.0f}", flush=True)
    misses = [f"all cells: {bad(whole)} of {whole.samples} are bad, at most {most}"] if bad(whole) > most else []
    return misses + [f"all cells: {short}" for short in short_leaves(whole, shares)]


# --- showing ----------------------------------------------------------------------------------


def print_rows(version, rows, reasons=4):
    print(f"# JDK {version}: {'case':14} {'samples':>8} {'bad':>6} {'share':>9} {'at a leaf':>9} {'due':>6}  reasons")
    for name, row in rows.items():
        part = 100 * bad(row) / max(row.samples, 1)
        why = [f"{count} {what}" for what, count in row.reasons.most_common(reasons)]
        why += [f"{count} accepted: {what}" for what, count in row.noted.items()]
        print(f"#         {name:14} {row.samples:8} {bad(row):6} {part:8.3f}% {row.reached.total():9} "
              f"{row.due.total():6.0f}  {'; '.join(why)}", flush=True)


def print_examples(rows, reasons=5, stacks=1):
    for name, row in rows.items():
        for why, _ in row.reasons.most_common(reasons):
            for text in row.examples.get(why, [])[:stacks]:
                print(f"# {name}: {why}: {shorten(text)}")


def shorten(text, limit=4000):
    return text if len(text) <= limit else f"{text[:limit // 2]} … {text[-limit // 2:]}"
