# SPDX-License-Identifier: Apache-2.0
"""What the samples of one process and of each of its threads weigh, against their clocks (thread_clocks.py)."""
import collections

import gates
from thread_clocks import Span
from weights import TOLERANCE, allowed

# Of threads whose weights are right, so many are farther off than three standard deviations.
BEYOND_3_SIGMA = 0.0027
# How many of the farthest threads are shown.
SHOWN = 4

# CLOCK is a Span, SAMPLES how many there are, OFF how far the weight is from anything the clock can have been.
Cell = collections.namedtuple("Cell", "name weighed_ns clock samples off_ns")


def cell_of(name, weighed_ns, samples, clock):
    off = max(weighed_ns - clock.high_ns, 0) + min(weighed_ns - clock.low_ns, 0)
    return Cell(name, weighed_ns, clock, samples, off)


def limit(clock_ns, frequency):
    """
    How far a weight may be from a clock: as tests/root/weights.py has it. Of a few samples chance is not
    normal: a thread that ran for a hundredth of a period has one sample now and then, which is a whole one.
    """
    expected = clock_ns * frequency / 1e9
    many = gates.most_bad(1, expected, BEYOND_3_SIGMA / 2) if expected < 20 else 0
    chance = TOLERANCE * clock_ns + (many - expected) * 1e9 / frequency
    return max(allowed(clock_ns, frequency), chance)


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

    def wrong(self):
        """Cells of threads outside of what they may be off."""
        return [cell for cell in self.threads if abs(cell.off_ns) > limit(cell.clock.ns, self.frequency)]

    def faults(self):
        process, wrong = self.process, self.wrong()
        if abs(process.off_ns) > allowed(process.clock.ns, self.frequency):
            yield f"samples weigh {process.weighed_ns / 1e9:.3f} s of {process.clock.ns / 1e9:.3f} s of CPU time"
        most = gates.most_bad(len(self.threads), BEYOND_3_SIGMA)
        if len(wrong) > most:
            yield f"{len(wrong)} of {len(self.threads)} threads weigh what they did not run; {most} may"

    def lines(self):
        """The process, the farthest threads, and all that are wrong."""
        process, wrong = self.process, self.wrong()
        slack = sum(cell.clock.high_ns - cell.clock.low_ns for cell in self.threads)
        yield (f"{process.samples} samples weigh {process.weighed_ns / 1e9:.3f} s of "
               f"{process.clock.ns / 1e9:.3f} s ({percent(process)}, "
               f"{100 * allowed(process.clock.ns, self.frequency) / max(process.clock.ns, 1):.2f} % allowed); "
               f"{len(self.threads)} threads, {len(wrong)} outside; {self.died} ended; slack "
               f"{slack / 1e9:.3f} s; {len(self.unseen)} never polled weigh "
               f"{sum(row[0] for row in self.unseen.values()) / 1e9:.3f} s")
        farthest = sorted(self.threads, reverse=True,
                          key=lambda cell: abs(cell.off_ns) / limit(cell.clock.ns, self.frequency))
        for cell in farthest[:max(SHOWN, len(wrong))]:
            yield (f"{'WRONG ' if cell in wrong else ''}{cell.name}: {cell.samples} samples weigh "
                   f"{cell.weighed_ns / 1e6:.1f} ms of {cell.clock.ns / 1e6:.1f} "
                   f"({cell.clock.low_ns / 1e6:.1f} to {cell.clock.high_ns / 1e6:.1f}; {percent(cell)}), "
                   f"{limit(cell.clock.ns, self.frequency) / 1e6:.1f} allowed")


def percent(cell):
    return f"{100 * (cell.weighed_ns / max(cell.clock.ns, 1) - 1):+.2f} %"
