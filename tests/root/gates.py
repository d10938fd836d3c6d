# SPDX-License-Identifier: Apache-2.0
"""How many bad samples a suite and its cells may have: the one place that says it.

The aim (AIM, 0.01 %) is a share of all samples of a suite: its sum has to keep it, and needs SUITE_SAMPLES
to show it. A cell of few samples cannot show a share; it may have as many bad ones as chance gives a cell
of its size that is exactly as good as the aim: the smallest number that Poisson's distribution exceeds
with a probability of at most P.
"""
import math

AIM = 0.0001
P = 0.001
# One that is twice as good as its aim fails by chance once in seventy times with so many, and once in
# fifteen with 30,000.
SUITE_SAMPLES = 100000


def most_bad(samples, share=AIM, p=P):
    """The most bad ones that a cell of SAMPLES may have: the smallest k with P(Poisson > k) <= p."""
    mean = samples * share
    term = below = math.exp(-mean)
    k = 0
    while 1 - below > p:
        k += 1
        term *= mean / k
        below += term
    return k


def most_bad_of_suite(samples, share=AIM):
    """The most that all cells of a suite may have together; one of too few samples is judged as a cell."""
    if samples < SUITE_SAMPLES:
        return most_bad(samples, share)
    return int(samples * share)


# Samples that a profile has not, or not in their place: fields of --stats. "lost" has those of all reasons.
DROPPED = ("lost", "late_samples")


def dropped(stats):
    """How many samples of a recording were lost, late or thrown away, of whichever process: all are bad."""
    return sum(stats[name] for name in DROPPED)
