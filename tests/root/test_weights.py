#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs first.
"""CPU time of threads that are on a cpu for short times only, per thread and process."""
from weights import *

# Who is on the cpus: kind, how many, microseconds of a turn, pause in microseconds or period in nanoseconds.
# On two cpus the first leaves most of the time idle, the second hands over without a pause.
SHORT = ("processes", 2, 100, 500)
FAST = ("threads", 4, 20, 0)
LONG = ("threads", 3, 5000, 1000)


def in_step(frequency):
    """Eight threads, of which some are woken just before and some just after a timer of that frequency."""
    return ("timers", 8, 60_000_000 / frequency / 1000, 1_000_000_000 // frequency)


def expect_weights(name, frequency, kind, seconds=3, busy=0):
    beside(busy)
    cells = record_handover(frequency, *kind, seconds)
    show(name, cells)
    bad = wrong(cells, frequency)
    expect(not bad, f"{name}: " + "; ".join(
        f"{cell.what} weighs {cell.weighed / 1e6:.1f} ms of {cell.clock / 1e6:.1f}" for cell in bad))


@test
def idle_host_49():
    expect_weights("49 Hz, idle", 49, LONG, seconds=5)


@test
def idle_host_99():
    expect_weights("99 Hz, idle", 99, SHORT, seconds=5)


@test
def idle_host_997():
    expect_weights("997 Hz, idle", 997, SHORT)


@test
def idle_host_9973():
    expect_weights("9,973 Hz, idle", 9973, SHORT)


@test
@alone
def fast_turns_997():
    expect_weights("997 Hz, fast turns", 997, FAST)


@test
@alone
def one_cpu_busy_997():
    expect_weights("997 Hz, one cpu busy", 997, SHORT, busy=1)


@test
@alone
def all_cpus_busy_997():
    expect_weights("997 Hz, all cpus busy", 997, FAST, busy=os.cpu_count(), seconds=5)


@test
def in_step_with_99():
    expect_weights("99 Hz, timers in step", 99, in_step(99), seconds=5)


@test
def in_step_with_997():
    expect_weights("997 Hz, timers in step", 997, in_step(997))


@test
@alone
def in_step_with_997_busy():
    expect_weights("997 Hz, timers in step, one cpu busy", 997, in_step(997), busy=1)


@test
@alone
def what_a_thread_ran_between_switches():
    """Not only how much a thread ran: what it was. With a timer for each thread perf has 2 to 4 points less of what switches."""
    for yields in (100, 400):
        expect_equal(fault_of_phases(*record_phases(997, yields, seconds=6)), None, f"{yields} yields")


@test
def phases_that_are_wrong():
    """Damaged input: a tenth of what yields is weighed as what computes."""
    for weighed in ({"computing": 2.2e9, "yielding": 1.8e9}, {"computing": 4e9, "yielding": 0}, {"computing": 0, "yielding": 0}):
        expect(fault_of_phases(weighed, {"computing": 2e9, "yielding": 2e9}, 3996), f"{weighed} passes")


main(lanes=2)
