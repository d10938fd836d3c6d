#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each process of a recording may do is what docs/security.md says, thread by thread."""
from hp import *

# include/uapi/linux/capability.h
NUMBERS = {"cap_chown": 0, "cap_dac_override": 1, "cap_dac_read_search": 2, "cap_fowner": 3, "cap_kill": 5, "cap_setgid": 6,
           "cap_setuid": 7, "cap_ipc_lock": 14, "cap_sys_chroot": 18, "cap_sys_ptrace": 19, "cap_sys_admin": 21, "cap_sys_nice": 23, "cap_syslog": 34,
           "cap_perfmon": 38, "cap_bpf": 39, "cap_checkpoint_restore": 40}
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def named(text):
    return sum(1 << NUMBERS[name] for name in set(re.findall(r"`(cap_\w+)`", text)))


def page():
    with open(os.path.join(ROOT, "docs", "security.md"), encoding="utf-8") as file:
        return file.read()


def row(name):
    """The rights in the table."""
    line = next(line for line in page().splitlines() if line.startswith(f"| {name} |"))
    return named(line.split("|")[3])


def added(begin):
    """Those that a line of the list below the table adds."""
    return named(next(line for line in page().splitlines() if line.startswith(f"* {begin}")))


def is_here():
    """What this test has: hostprof can have no more."""
    return int(status_of("/proc/self")["CapPrm"], 16)


def expect_rights(path, wanted, seccomp, who):
    wanted &= is_here()
    came = status_of(path)
    rights = {name: int(came[name], 16) for name in SETS}
    expect_equal({name: hex(value) for name, value in rights.items()},
                 {"CapInh": "0x0", "CapPrm": hex(wanted), "CapEff": hex(wanted), "CapBnd": "0x0", "CapAmb": "0x0"}, who)
    expect_equal(came["NoNewPrivs"], "1", f"no_new_privs of {who}")
    expect_equal(came["Seccomp"], "2" if seccomp else "0", f"seccomp of {who}")


def expect_all(recorder, recorder_more=0, nursery_more=0):
    """The threads and processes of a recording that runs."""
    ring_readers, seen = 0, collections.Counter()
    for task in glob.glob(f"/proc/{recorder.pid}/task/*"):
        if int(status_of(task)["CapPrm"], 16) == 0 and not task.endswith(f"/{recorder.pid}"):
            ring_readers += 1
            expect_rights(task, 0, False, "the reader of the rings")
        else:
            expect_rights(task, row("`hostprof`") | recorder_more, False, "hostprof")
    expect_equal(ring_readers, 1, "threads without rights")
    for pid in family(recorder.pid)[1:]:
        name = status_of(f"/proc/{pid}")["Name"]
        if not name.startswith("hostprof"):
            continue
        seen[name] += 1
        if name in ("hostprof-broker", "hostprof-reader"):
            expect_rights(f"/proc/{pid}", row(f"`{name}`"), True, name)
        else:
            expect_rights(f"/proc/{pid}", row("`hostprof-keeper`") | nursery_more, False, name)
    expect_equal((seen["hostprof-keeper"], seen["hostprof-nurse"]), (1, 1), "nurseries")
    expect(seen["hostprof-broker"] >= 1, "brokers")
    print(f"# {dict(seen)}, as the page says")


def record_beside(*args, **more):
    need_root()
    recorder = Recorder(*args)
    wait_until(lambda: below(recorder.pid, "hostprof-broker"), 20, "a broker")
    expect_all(recorder, **more)
    return recorder


@test
def of_a_recording():
    burn = native("burn", 30)
    recorder = record_beside("-F", 199)
    time.sleep(1)
    expect(total(of_pid(collapsed(recorder.end()), burn.pid)) > 50, "samples of another program")


@test
def whom_it_waits_for_weighs_as_it_does():
    """To the scheduler, whose groups are sessions: a group of their own weighs as much as who goes first; where nobody does, they stay in his."""
    need_root()
    if not os.path.exists("/proc/self/autogroup"):
        skip("this kernel has no autogroups")
    may_go_first = subprocess.call(["chrt", "--rr", "1", "true"], stderr=subprocess.DEVNULL) == 0
    for nice in (0, 1):
        path = temp_path("x.jfr")
        recorder = start(["nice", "-n", str(nice), HOSTPROF, "record", "-d", "30", "-o", path], stderr=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path) and below(recorder.pid, "hostprof-broker"), 20, "a recording")
        home, of_tty = autogroup(recorder.pid), os.getpgid(recorder.pid)
        is_own = os.sched_getscheduler(recorder.pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR
        expect_equal(is_own, nice == 0 and may_go_first, f"nice {nice}: it goes first")
        for pid in family(recorder.pid)[1:]:
            group, weight = autogroup(pid)
            expect_equal((group != home[0], weight), (is_own, "-10" if is_own else home[1]), f"nice {nice}: group and weight")
            expect(os.getpgid(pid) != of_tty, "Ctrl-C is for the recorder alone")
        recorder.signal(signal.SIGINT)
        recorder.finish()


def autogroup(pid):
    """Its name, and how nice it is; nothing is said of the kernel's first, in which are those of whose ancestors none began a session."""
    with open(f"/proc/{pid}/autogroup", encoding="ascii") as file:
        name, _, nice = file.read().split() or ("the first", "nice", "0")
    return name, nice


@test
def with_agents():
    need_root()
    jvm = java(17, "Idle", 60)
    recorder = record_beside("-F", 199, "--agent=always", nursery_more=added("agents"))
    wait_until(lambda: json_of("status", jvm.pid)["agent_lease_pid"] == recorder.pid, 60, "an agent")
    recorder.end()


@test
def with_allocations():
    """Probes of a JVM are opened when it is seen, after rights were given up."""
    need_root()
    recorder = record_beside("-e", "cpu,alloc=4k", "--agent=never", "-F", 199, recorder_more=added("`-e alloc`"))
    jvm = java(17, "AllocMix", 2, 1500, flags=["-Xmx64m", "-XX:+UseSerialGC"], stdin=subprocess.PIPE)
    time.sleep(1)  # the probes are opened
    jvm.go()
    jvm.wait_text("done", timeout=60)
    path = recorder.end()
    seen = sum(row["samples"] for row in read_json(recorder.stats_path)["events"] if row["name"] == "alloc")
    print(f"# {seen} allocations in {os.path.basename(path)}")
    expect(seen > 200, f"{seen} samples of allocations")


@test
def with_a_command_and_an_output_elsewhere():
    """The directory is another user's; the view is written, and what is beside it goes, at the end."""
    need_root()
    directory = temp_dir()
    os.chmod(directory, 0o755)
    os.chown(directory, 65534, 65534)
    path = os.path.join(directory, "x.html")
    recorder = start([HOSTPROF, "record", "-o", path, "--", os.path.join(WORKLOADS, "burn"), "3"], stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists(f"{path}.partial.jfr") and os.path.getsize(f"{path}.partial.jfr"), 60, "recording")
    wait_until(lambda: below(recorder.pid, "hostprof-broker"), 20, "a broker")
    expect_all(recorder, recorder_more=added("a command") | added("an output"))
    recorder.finish()
    expect_equal(os.listdir(directory), ["x.html"], "what is left")


@test
def a_nursery_that_is_killed():
    """Another one is there at once, as long as its keeper lives: rights come from nowhere else any more."""
    need_root()
    burn = native("burn", 60)
    recorder = record_beside("-F", 199)
    for _ in range(3):
        for pid in below(recorder.pid, "hostprof-nurse"):
            os.kill(pid, signal.SIGKILL)
        run(["/bin/true"], code=0)
        time.sleep(0.3)
    late = native("burn", 3)
    late.finish()
    path = recorder.end()
    for pid in (burn.pid, late.pid):
        lines = of_pid(collapsed(path), pid)
        bad = [line for line in lines if any("[unwind:" in frame or frame.startswith("0x") for frame in line.frames)]
        expect(total(lines) > 100, f"{total(lines)} samples")
        expect_equal(bad, [], "stacks that are not whole and named")


main()
