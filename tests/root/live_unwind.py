#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-live: at least SAMPLES (30,000) samples of native programs, and how many are whole.

usage: live_unwind.py [SAMPLES] [SECONDS of a round]
"""
import gates
from hp import *
from native_programs import *

MAX_ROUNDS = 12

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 30000
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
del sys.argv[1:]


@test
def live_stacks_are_whole():
    need_root()
    rows, dropped = {}, 0
    for number in range(MAX_ROUNDS):
        outcome = record_round(seconds)
        for name, row in outcome.rows.items():
            rows[name] = add_rows([rows[name], row]) if name in rows else row
        dropped += outcome.dropped
        count = sum(row.samples for row in rows.values())
        print(f"# round {number + 1}: {count} samples", flush=True)
        if count >= samples:
            break
    print_table(rows)
    print_examples(rows)
    everything = add_rows(rows.values())
    print(f"# {everything.samples} samples, unfinished {unfinished(everything)}, dropped {dropped}; "
          f"{gates.most_bad_of_suite(everything.samples)} may be")
    expect(everything.samples >= samples, f"only {everything.samples} samples")
    expect_equal(list(faults(rows, dropped)), [], "all programs")


main()
