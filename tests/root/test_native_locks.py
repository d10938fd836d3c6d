#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-e offcpu tells which of the C library's locks a thread waits for: of glibc, and of musl where it is installed; asprof's nativelock."""

from hp import *

ROUNDS = 40
# Of tests/workloads/native_locks.c: the reason, and how much of a round it is at least: the thread asks its partner first, and sleeps for that.
KINDS = {"mutex": ("mutex", 0.7), "rwlock": ("rwlock", 0.7), "condition": ("condition", 0.95), "semaphore": ("semaphore", 0.95),
         "barrier": ("barrier", 0.95), "join": ("thread join", 0.95)}


def go(process):
    process.popen.stdin.write(b"\n")
    process.popen.stdin.flush()


def read_told(text):
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in rows if len(row) == 4 and row[0] in KINDS}


def start_locks(program=None, rounds=ROUNDS):
    if program is None:
        return native("native_locks", rounds, stdin=subprocess.PIPE).wait_text()
    process = start([program, rounds], stdin=subprocess.PIPE)
    process.wait_text("ready", 20)
    return process


def check(title, program=None):
    need_root()
    process = start_locks(program)
    recorder = Recorder("-p", process.pid, "-e", "offcpu=0")
    time.sleep(0.3)
    go(process)
    process.wait_text("done", 60)
    path = recorder.end()
    counts, ns = collapsed(path, "--event", "offcpu", "-t"), collapsed(path, "--event", "offcpu", "-t", "--total")
    for kind, (reason, least) in KINDS.items():
        tid, rounds, told_ns = read_told(process.text)[kind]
        mine = [[line for line in lines if line.thread.endswith(f" tid={tid}]") and f"outer_{kind}" in line.frames and
                 line.frames[-1] != "[sleep]"] for lines in (counts, ns)]
        found = collections.Counter()
        for line in mine[0]:
            if line.frames[-1] != "[run queue]":
                found[line.frames[-1]] += line.count
        print(f"# {title}, {kind}: {dict(found)} of {rounds}, {total(mine[1]) / 1e6:.1f} of {told_ns / 1e6:.1f} ms", flush=True)
        # A thread may wait a second time where another was faster; musl's join does for a thread that isn't quite gone yet.
        expect_between(found[f"[{reason}]"], rounds - 1, 2 * rounds, f"waits of {kind}")
        others = sum(found.values()) - found[f"[{reason}]"]
        expect(others <= 0.1 * rounds, f"{kind} waits for something else: {dict(found)}")
        expect_between(total(mine[1]) / told_ns, least, 1.02, f"length of {kind}")


@test
def locks_of_glibc():
    check("glibc")


@test
def locks_of_musl():
    need_root()
    if not shutil.which("musl-gcc"):
        skip("musl-gcc is not installed")
    program = os.path.join(temp_dir(), "native_locks_musl")
    run(["musl-gcc", "-O1", "-fno-inline", "-static", "-o", program, os.path.join(ROOT, "tests", "workloads", "native_locks.c")], code=0)
    check("musl", program)


@test
def asprof_knows_them():
    """Mutexes and read-write locks, and nothing else that threads wait for."""
    need_root()
    process = start_locks(rounds=400)
    go(process)
    out = run([os.path.join(ROOT, "scripts", "asprof"), "-e", "nativelock", "-d", 2, "-o", "collapsed", process.pid], code=0, timeout=60,
              env={**os.environ, "HOSTPROF": HOSTPROF, "XDG_RUNTIME_DIR": temp_dir()}).out
    leaves = {line.rsplit(" ", 1)[0].rsplit(";", 1)[1] for line in out.splitlines() if line.strip()}
    expect_equal(leaves, {"[mutex]", "[rwlock]"}, "leaves")
    for kind in ("mutex", "rwlock"):
        expect_match(rf"(?m);outer_{kind};.*;\[{kind}\] \d+$", out)
    process.signal(signal.SIGKILL)
    process.finish(code=None)


main()
