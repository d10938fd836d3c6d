#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""--begin and --end: what a process does between two functions, of programs that know when they are there."""

from hp import *

ROUNDS = 25
TURN_MS = 40
# A thread of a process whose window opens is in a function for a moment yet in which it was before, or the other way round.
AT_EDGES = 0.02


def recorded(*options, events=("cpu",)):
    """The samples of a program that comes to both functions, and of one that comes to neither; their clocks."""
    need_root()
    program = os.path.join(WORKLOADS, "windows")
    processes = [native("windows", ROUNDS, stdin=subprocess.PIPE).wait_text(), native("windows", ROUNDS, "never", stdin=subprocess.PIPE).wait_text()]
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes), "-F", 997, *[part for event in events for part in ("-e", event)],
                        *[option.replace("PROGRAM", program) for option in options])
    go_to_the_end(processes)
    path = recorder.end()
    return path, [of_pid(collapsed(path, "--total"), process.pid) for process in processes]


def sums(lines):
    """Milliseconds in each function of the program."""
    ms = collections.Counter()
    for line in lines:
        for name in ("work_inside", "work_outside", "beside_inside", "beside_outside"):
            if name in line.frames:
                ms[name] += line.count / 1e6
    return ms


def expect_window(lines, name, wanted, others):
    ms = sums(lines)
    print(f"# {name}: { {key: round(value) for key, value in ms.items()} } ms", flush=True)
    for key in wanted:
        expect(ms[key] > 0.2 * ROUNDS * TURN_MS, f"{name}: {ms[key]} ms in {key}")
    for key in others:
        expect(ms[key] <= AT_EDGES * sum(ms.values()), f"{name}: {ms[key]} ms in {key}")


INSIDE, OUTSIDE = ("work_inside", "beside_inside"), ("work_outside", "beside_outside")


@test
def between_two_functions():
    """Both threads of the process; a tick's weight is none of the time before. Who comes to neither is not in it."""
    _, (lines, never) = recorded("--begin", "uprobe:PROGRAM:enter_work", "--end", "uprobe:PROGRAM:leave_work")
    expect_window(lines, "inside", INSIDE, OUTSIDE)
    expect_between(sums(lines)["work_inside"], 0.9 * ROUNDS * TURN_MS, 1.1 * ROUNDS * TURN_MS, "time inside")
    expect_equal(never, [], "samples of who comes to neither")


@test
def outside_of_them():
    """The other way round, by a return; without a begin all counts until the end."""
    _, (lines, never) = recorded("--begin", "uretprobe:PROGRAM:leave_work", "--end", "uprobe:PROGRAM:enter_work")
    expect_window(lines, "outside", ("work_outside",), INSIDE)
    expect_equal(never, [], "samples of who comes to neither")


@test
def until_a_function_is_reached():
    _, (lines, never) = recorded("--end", "uprobe:PROGRAM:enter_work")
    ms = sums(lines)
    print(f"# until: { {key: round(value) for key, value in ms.items()} } ms", flush=True)
    expect_between(ms["work_outside"], 0.8 * TURN_MS, 1.2 * TURN_MS, "the first turn")
    expect(ms["work_inside"] <= 2, "time behind the end")
    expect(sums(never)["work_inside"] > 0.5 * ROUNDS * TURN_MS, "who comes to neither is in it")


@test
def what_is_no_function():
    for event, words in {"cpu": "no function", "sched:sched_switch": "sched_switch", "uprobe:/nowhere:f": "/nowhere"}.items():
        done = run([HOSTPROF, "record", "--begin", event, "-d", 1], code=None)
        expect(done.code in (1, 2), f"{event}: exit code {done.code}")
        expect_in(words, done.err)
    done = run([HOSTPROF, "record", "-e", "offcpu", "--end", f"uprobe:{os.path.join(WORKLOADS, 'windows')}:leave_work", "-d", 1], code=2)
    expect_in("--begin and --end do not go with offcpu", done.err)


main()
