# SPDX-License-Identifier: Apache-2.0
"""What the samples of one JVM came to, and what is demanded of them."""
import collections

import gates
from judge import FROZEN, is_java
from jvm_frames import allowed_cause, over_allowance
from threads import is_at_its_end

# Of a JVM's samples: with Java frames. The rest is its compilers and collectors, which have much to do
# in its first half minute; H2 came to 0.47 in 9 s.
LEAST_JAVA = 0.2
# Of the samples of threads that run Java: those that are just beginning or ending.
MOST_ENDS = 0.02
# Less is nothing to judge by.
MIN_SAMPLES = 1000


class Row:
    """What the samples of one program came to; two recordings of it add up."""

    def __init__(self):
        self.counts, self.reasons, self.leaves, self.allowed, self.pairs = \
            (collections.Counter() for _ in range(5))
        self.examples, self.cpu_s, self.sampled_s, self.weighings = {}, 0.0, 0.0, []

    def add(self, line, why, runs_java=False):
        """WHY it is unfinished; "" if it is not. RUNS_JAVA: its thread does, as the JVM says."""
        self.counts["samples"] += line.count
        self.counts["java"] += line.count * any(map(is_java, line.frames))
        self.counts["frozen"] += line.count * (FROZEN in line.frames)
        self.counts["threads"] += line.count * runs_java
        self.counts["ends"] += line.count * (runs_java and is_at_its_end(line))
        cause = "" if why else allowed_cause(line.frames)
        self.allowed.update({cause: line.count} if cause else {})
        if why:
            self.reasons[why] += line.count
            self.leaves[why, ";".join(line.frames[-3:])] += line.count
            self.examples.setdefault(why, ";".join(line.frames))

    def add_dropped(self, count):
        """Samples that were lost, are late or were thrown away."""
        if count > 0:
            self.counts["samples"] += count
            self.reasons["lost, late or thrown away"] += count

    def add_weighing(self, weighing):
        """What its samples and its clocks came to."""
        self.weighings.append(weighing)
        self.sampled_s += weighing.process.weighed_ns / 1e9
        self.cpu_s += weighing.process.clock.ns / 1e9

    def weighing_lines(self):
        return [line for weighing in self.weighings for line in weighing.lines()]

    def unfinished(self):
        return sum(self.reasons.values())

    def share(self):
        return self.unfinished() / max(self.counts["samples"], 1)

    def faults(self):
        """Why what came cannot be, or proves nothing."""
        counts, samples, most = self.counts, self.counts["samples"], gates.most_bad(self.counts["samples"])
        if samples < MIN_SAMPLES:
            yield f"only {samples} samples"
        if counts["java"] < LEAST_JAVA * samples:
            yield f"{counts['java']} of {samples} samples have a Java frame"
        if not counts["threads"] or counts["ends"] > MOST_ENDS * counts["threads"] + 3:
            yield f"{counts['ends']} of {counts['threads']} samples of Java's threads have no Java frame"
        for weighing in self.weighings:
            yield from weighing.faults()
        if self.unfinished() > most:
            yield f"{self.unfinished()} of {samples} are not whole; {most} may be"
        yield from over_allowance(self.allowed, samples)
