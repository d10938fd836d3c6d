#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Readers, which parse other people's files: what they may do, and what is left of a recording when they are ended."""
import random
import stat

from under_attack import *

CHAIN = os.path.join(UNWIND, "uw-chain")
# What a reader may have open.
DEVICES = {"/dev/null"}


def readers_of(pid):
    return below(pid, "hostprof-reader")


def expect_no_rights(pid):
    status = status_of(f"/proc/{pid}")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        expect_equal(int(status[name], 16), 0, f"{name} of a reader")
    expect_equal(status["NoNewPrivs"], "1", "NoNewPrivs")
    expect_equal(status["Seccomp"], "2", "Seccomp")
    for name in ("Uid", "Gid"):
        ids = set(status[name].split())
        expect(len(ids) == 1 and int(ids.pop()) > 65533, f"{name} of a reader: {status[name]}")
    expect_equal(status["Groups"].strip(), "", "groups")


def expect_no_files(pid):
    """Nothing but what it was given: regular files, its socket and /dev/null."""
    sockets = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{fd}"
        with contextlib.suppress(FileNotFoundError):
            target, mode = os.readlink(path), os.stat(path).st_mode
            sockets += stat.S_ISSOCK(mode)
            expect(target in DEVICES or stat.S_ISREG(mode) or stat.S_ISSOCK(mode), f"a reader holds {target}")
    expect_equal(sockets, 1, "sockets of a reader")
    expect_equal(os.stat(f"/proc/{pid}/root/.").st_ino == os.stat("/").st_ino, False, "a reader has our root")


def owners_of(pid):
    """Whose files a reader has open: users, and root once for our own file systems and for each other one."""
    own = {os.stat(path).st_dev for path in ("/", "/usr")}
    owners = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            file = os.stat(f"/proc/{pid}/fd/{fd}")
            if stat.S_ISREG(file.st_mode):
                owners.add(file.st_uid or ("root", file.st_dev if file.st_dev not in own else 0))
    return owners


def start_new_program(it, user=VICTIM):
    """One that no reader has seen yet."""
    copy = public_copy(CHAIN, it.directory, f"new.{len(it.fresh)}", user)
    it.fresh.append(start_as(user, [copy, 1]))


def expect_fresh_whole(it):
    """The frames of programs that came while readers were ended: not one is missing; names may be, if somebody says of which file."""
    samples = bad = unnamed = 0
    for program in it.fresh:
        lines = of_program(it.lines, program.pid)
        samples += total(lines)
        row = judge_lines("uw-chain", lines)
        wrong = unfinished(row)
        if wrong and all(any(frame.startswith("[new.") or "+0x" in frame for frame in line.frames) or
                         not unfinished(judge_lines("uw-chain", [line])) for line in lines):
            unnamed += wrong
            wrong = 0
        bad += wrong
        if wrong:
            print_examples({"uw-chain": row}, 3)
    print(f"# {samples} samples of {len(it.fresh)} programs that came meanwhile: {bad} not whole, {unnamed} without names", flush=True)
    expect(samples > 200, f"{samples} samples of new programs")
    expect(bad <= gates.most_bad(samples), f"{bad} stacks are not whole")
    expect(not unnamed or it.stats["readers"]["files_given_up"], "names are missing, and nobody says why")


@test
def what_readers_hold():
    need_root()
    with attack() as it:
        seen = set()

        def look():
            for _ in range(6):
                start_new_program(it)
                for reader in readers_of(it.recorder.pid):
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        expect_no_rights(reader)
                        expect_no_files(reader)
                        seen.add(reader)
                time.sleep(0.3)

        it.fresh = []
        it.record(seconds=4, during=look)
    print(f"# {len(seen)} readers", flush=True)
    expect(len(seen) >= 2, "one reads for the loop, one for the worker")
    it.expect_unharmed()
    readers = it.stats["readers"]
    expect_equal([readers["late"], readers["deaths"], readers["files_given_up"]], [0, 0, 0], "what readers failed at")


@test
def no_reader_has_files_of_two_owners():
    """Who is taken over by a file can lie about files of its owner only."""
    need_root()
    with attack() as it:
        seen = set()

        def look():
            for turn in range(8):
                start_new_program(it, (VICTIM, ATTACKER)[turn % 2])
                for reader in readers_of(it.recorder.pid):
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        owners = owners_of(reader)
                        expect(len(owners) <= 1, f"a reader has files of {owners}")
                        seen.update(owners)
                time.sleep(0.3)

        it.fresh = []
        it.record(seconds=4, during=look)
    print(f"# files of {seen}", flush=True)
    expect({VICTIM, ATTACKER, ("root", 0)} <= seen, f"files of {seen} only were seen")
    it.expect_unharmed()
    expect_fresh_whole(it)


def end_readers(it, number, times, pause):
    """By signal NUMBER, one at a time, each after a random part of PAUSE seconds."""
    dice = random.Random(14)
    done = 0
    it.fresh = []
    end = time.monotonic() + 60
    due = 0
    while done < times and time.monotonic() < end:
        if time.monotonic() > due:
            start_new_program(it)
            due = time.monotonic() + 1
        readers = readers_of(it.recorder.pid)
        if readers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(dice.choice(readers), number)
                done += 1
        time.sleep(dice.random() * pause)
    expect_equal(done, times, "readers that were ended")


@test
def readers_are_killed():
    """A hundred times at random moments, while programs come that nobody knows."""
    need_root()
    with attack() as it:
        it.record(seconds=7, end="sigint", during=lambda: end_readers(it, signal.SIGKILL, 100, 0.05))
    it.expect_unharmed()
    expect_fresh_whole(it)
    print(f"# {it.stats['readers']}", flush=True)
    expect(it.stats["readers"]["deaths"] + it.stats["readers"]["late"] > 0, "no reader was ended in a call")


@test
def readers_are_stopped():
    """They never come back; who waits for them does not either, if nobody looks at the clock."""
    need_root()
    with attack() as it:
        it.record(seconds=9, end="sigint", during=lambda: end_readers(it, signal.SIGSTOP, 7, 2))
        left = readers_of(it.recorder.pid)
    expect_equal(left, [], "readers at the end")
    it.expect_unharmed()
    expect_fresh_whole(it)
    print(f"# {it.stats['readers']}", flush=True)
    expect(it.stats["readers"]["late"] > 0, "no reader was late")


@test
def nobody_is_left_behind():
    """Who is killed says nothing to anybody: readers are another user's, and end all the same."""
    need_root()
    for killed in ("hostprof", "hostprof-nurse"):
        recorder = Recorder("-F", 99)
        wait_until(lambda pid=recorder.pid: readers_of(pid), 20, "a reader")
        readers = readers_of(recorder.pid)
        if killed == "hostprof":
            recorder.signal(signal.SIGKILL)
        else:
            os.kill(below(recorder.pid, killed)[0], signal.SIGKILL)
        wait_until(lambda left=readers: not any(status_of(f"/proc/{pid}").get("Name") == "hostprof-reader"
                                                for pid in left), 10, f"end of the readers {readers}")
        if killed != "hostprof":
            recorder.end()


main()
