#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole table of test_weights.py: each kind of thread at each frequency on each host. `make check-weights`.

Prints a line a cell and the number of those in which a thread or process is farther from its clock than one
percent and three standard deviations. HOSTPROF_SECONDS (6) is how long each lasts.
"""

from weights import *

FREQUENCIES = [49, 99, 997, 9973]
HOSTS = {"idle": 0, "half idle": max(os.cpu_count() // 2, 1), "busy": os.cpu_count()}


def kinds(frequency):
    """Turns of 20 us to 5 ms, with and without pauses; timers in step with the clock."""
    yield from [("processes", 2, 100, 500), ("processes", 2, 20, 0), ("threads", 4, 20, 0),
                ("threads", 4, 50, 200), ("threads", 8, 1000, 0), ("threads", 3, 5000, 1000)]
    for burst in 0.05, 0.3:
        yield ("timers", 8, burst * 1e6 / frequency, 1_000_000_000 // frequency)


def main():
    seconds = float(os.environ.get("HOSTPROF_SECONDS", "6"))
    bad = cells = 0
    for host, busy in HOSTS.items():
        for frequency in FREQUENCIES:
            for kind in kinds(frequency):
                beside(busy)
                found = record_handover(frequency, *kind, seconds)
                run_cleanups()
                words = " ".join(f"{word:g}" if isinstance(word, float) else str(word) for word in kind)
                name = f"{host}, {frequency} Hz, {words}"
                show(name, found)
                far = wrong(found, frequency)
                for cell in far:
                    print(f"BAD {name}: {cell.what} weighs {cell.weighed / 1e6:.1f} ms of "
                          f"{cell.clock / 1e6:.1f}, {cell.samples} samples")
                bad += bool(far)
                cells += 1
    print(f"{cells - bad} of {cells} cells within one percent and three standard deviations")
    return 1 if bad else 0


sys.exit(main())
