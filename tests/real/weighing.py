# SPDX-License-Identifier: Apache-2.0
"""What the samples of one process and of each of its threads weigh, against their clocks (thread_clocks.py)."""
import collections
import math

import gates
from thread_clocks import Span
from weights import TOLERANCE, allowed

# Of threads whose weights are right, so many are farther off than three standard deviations; and five: none.
BEYOND = {3: 0.0027, 5: 6e-7}
# How many of the farthest threads are shown.
SHOWN = 4
# In periods: threads that ran for less are judged together, too.
RARE = 20
# Of their sum. Where turns are short ticks are lost, and what is owed to a thread is given to its later ticks,
# which such a thread has not: 164 of Kafka and Hazelcast came to 0.84 of 399 ms.
RARE_TOLERANCE = 0.1

# CLOCK is a Span, SAMPLES how many there are, OFF how far the weight is from anything the clock can have been.
Cell = collections.namedtuple("Cell", "name weighed_ns clock samples off_ns")


def cell_of(name, weighed_ns, samples, clock):
    off = max(weighed_ns - clock.high_ns, 0) + min(weighed_ns - clock.low_ns, 0)
    return Cell(name, weighed_ns, clock, samples, off)


def limit(clock_ns, frequency, sigmas=3):
    """
    How far a thread's weight may be from its clock: one percent, and so many standard deviations. Of few
    samples chance is not normal: a thread that ran for a hundredth of a period has one now and then, a whole one.
    """
    expected = clock_ns * frequency / 1e9
    many = gates.most_bad(1, expected, BEYOND[sigmas] / 2) if expected < 20 else 0
    chance = max(sigmas * math.sqrt(expected), many - expected)
    return TOLERANCE * clock_ns + chance * 1e9 / frequency


class Weighing:
    """
    SUMS: (pid, tid) → (nanoseconds, samples), of a recording from START_NS to END_NS. LOST_NS: what the
    process's lost samples weigh, whose threads nobody knows.
    """

    def __init__(self, process, sums, lost_ns, start_ns, end_ns, frequency):
        self.frequency = frequency
        own = {tid: sum_ for (pid, tid), sum_ in sums.items() if pid == process.pid}
        self.threads = [cell_of(clock.name, *own.get(tid, (0, 0)), clock.between(start_ns, end_ns))
                        for tid, clock in process.threads.items()]
        # Threads that lived between two polls only are in the process's clock.
        self.unseen = {tid: sum_ for tid, sum_ in own.items() if tid not in process.threads}
        self.died = sum(1 for clock in process.threads.values() if clock.gone_ns and clock.gone_ns < end_ns)
        weighed, samples = (sum(row[i] for row in own.values()) for i in (0, 1))
        whole = process.whole.between(start_ns, end_ns).ns
        self.process = cell_of("process", weighed + lost_ns, samples, Span(whole, whole, whole))

    def wrong(self, sigmas=3):
        """Cells of threads outside of what they may be off, the farthest first."""
        return [cell for cell in sorted(self.threads, key=self.distance, reverse=True)
                if abs(cell.off_ns) > limit(cell.clock.ns, self.frequency, sigmas)]

    def distance(self, cell):
        return abs(cell.off_ns) / max(limit(cell.clock.ns, self.frequency), 1)

    def faults(self):
        yield from faults_of([self])
        for cell in self.wrong(5):
            yield f"{cell.name} weighs {cell.weighed_ns / 1e6:.1f} ms of {cell.clock.ns / 1e6:.1f}"

    def lines(self):
        """The process, the farthest threads, and all that are wrong."""
        process, wrong = self.process, self.wrong()
        slack_ns = sum(cell.clock.high_ns - cell.clock.low_ns for cell in self.threads)
        unseen_ns = sum(row[0] for row in self.unseen.values())
        yield (f"{process.samples} samples (x period {process.samples / self.frequency:.3f} s) weigh "
               f"{process.weighed_ns / 1e9:.3f} s of {process.clock.ns / 1e9:.3f} s ({percent(process)}, "
               f"{100 * allowed(process.clock.ns, self.frequency) / max(process.clock.ns, 1):.2f} % allowed); "
               f"{len(self.threads)} threads, {len(wrong)} outside; {self.died} ended; slack "
               f"{slack_ns / 1e9:.3f} s; {len(self.unseen)} never polled weigh {unseen_ns / 1e9:.3f} s")
        for cell in [rare_threads([self]), *sorted(
                self.threads, key=self.distance, reverse=True)[:max(SHOWN, len(wrong))]]:
            yield (f"{'WRONG ' if cell in wrong else ''}{cell.name}: {cell.samples} samples weigh "
                   f"{cell.weighed_ns / 1e6:.1f} ms of {cell.clock.ns / 1e6:.1f} "
                   f"({cell.clock.low_ns / 1e6:.1f} to {cell.clock.high_ns / 1e6:.1f}; {percent(cell)}), "
                   f"{limit(cell.clock.ns, self.frequency) / 1e6:.1f} allowed")


def rare_threads(weighings):
    """One cell of all threads that ran for a few periods only: of these one alone shows nothing."""
    cells = [cell for each in weighings for cell in each.threads if cell.clock.ns * each.frequency < RARE * 1e9]
    clock = Span(*(sum(cell.clock[i] for cell in cells) for i in range(3)))
    weighed, samples = sum(cell.weighed_ns for cell in cells), sum(cell.samples for cell in cells)
    return cell_of(f"{len(cells)} threads of less than {RARE} periods", weighed, samples, clock)


def faults_of(weighings):
    """What is wrong with one process, or with several together: they are recorded at one frequency."""
    weighed = sum(each.process.weighed_ns for each in weighings)
    clock = sum(each.process.clock.ns for each in weighings)
    wrong, threads = (sum(map(len, lists)) for lists in ([each.wrong() for each in weighings],
                                                        [each.threads for each in weighings]))
    most = gates.most_bad(threads, BEYOND[3])
    rare = rare_threads(weighings)
    if abs(weighed - clock) > allowed(clock, weighings[0].frequency):
        yield f"samples weigh {weighed / 1e9:.3f} s of {clock / 1e9:.3f} s of CPU time"
    if abs(rare.off_ns) > RARE_TOLERANCE * rare.clock.ns + limit(rare.clock.ns, weighings[0].frequency, 5):
        yield f"{rare.name} weigh {rare.weighed_ns / 1e6:.1f} ms of {rare.clock.ns / 1e6:.1f}"
    if wrong > most:
        yield f"{wrong} of {threads} threads weigh what they did not run; {most} may"


def percent(cell):
    return f"{100 * (cell.weighed_ns / max(cell.clock.ns, 1) - 1):+.2f} %"
