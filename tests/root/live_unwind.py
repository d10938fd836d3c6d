#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make check-live: at least SAMPLES (30,000) samples of native programs, and how many are whole.

usage: live_unwind.py [SAMPLES] [SECONDS of a round]
"""
from hp import *
from native_programs import *

MUST_SHARE, AIM_SHARE = 0.001, 0.0001
MAX_ROUNDS = 12

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 30000
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
del sys.argv[1:]


@test
def live_stacks_are_whole():
    need_root()
    rows = {}
    for number in range(MAX_ROUNDS):
        outcome = record_round(seconds)
        for name, row in outcome.rows.items():
            rows[name] = add_rows([rows[name], row]) if name in rows else row
        count = sum(row.samples for row in rows.values())
        print(f"# round {number + 1}: {count} samples", flush=True)
        if count >= samples:
            break
    print_table(rows)
    print_examples(rows)
    everything = add_rows(rows.values())
    part = unfinished(everything) / max(everything.samples, 1)
    print(f"# {everything.samples} samples, unfinished {100 * part:.4f} % "
          f"(must {100 * MUST_SHARE} %, aim {100 * AIM_SHARE} %: "
          f"{'reached' if part <= AIM_SHARE else 'missed'})")
    expect(everything.samples >= samples, f"only {everything.samples} samples")
    expect(part <= MUST_SHARE, f"{unfinished(everything)} of {everything.samples} are not whole")


main()
