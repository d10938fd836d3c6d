#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JVMTI agent on its own: what it publishes, and that it does not harm its JVM."""
import re
import signal
import subprocess
import time

import codemap
from hp import *

CODEMAP = os.path.join(ROOT, "tests", "root", "codemap.py")
# Of a JVM in 60 or 100 attachments. The agent holds 6 MB while it is used: left behind once in ten
# times, that would be seen.
CYCLES_GROWTH = 2 << 20


def churn(version, seconds, *flags):
    """The busy workload in a small heap; dynamic loading allowed, so that 21+ do not warn."""
    if version >= 17:
        flags += ("-XX:+EnableDynamicAgentLoading",)
    return java(version, "Churn", seconds, flags=("-Xmx64m", "-Xms64m", *flags),
                stderr=subprocess.STDOUT)


def attach(process):
    hostprof("attach", process.pid)


def detach(process):
    hostprof("detach", process.pid)
    wait_until(lambda: not codemap.find(process.pid), 5, "code map gone after detach")


def consume(process, seconds, kind=None):
    """Hold the lease, replay, read for SECONDS, or less once a KIND has come; all records."""
    code_map = codemap.CodeMap(process.pid)
    code_map.take_lease()
    try:
        records = code_map.read_replay()
        until = time.monotonic() + seconds
        while time.monotonic() < until and not (kind and count(records, kind)):
            time.sleep(0.02)
            records += code_map.read()
        return records
    finally:
        code_map.release()
        code_map.command(codemap.STOP)


def count(records, kind):
    return sum(1 for k, *_ in records if k == kind)


def names(records):
    """Methods by number: (class, name, source)."""
    return {m[0]: m[1:] for m in (codemap.method_of(body) for kind, _, _, body in records
                                  if kind == codemap.METHOD)}


def check_publishes(version):
    process = churn(version, 60)
    time.sleep(2)  # so that there is code with inlining to replay, also on a busy host
    attach(process)
    records = consume(process, 20, codemap.UNLOAD)
    methods = names(records)
    expect(("EpochBody", "churn", "EpochBody.java") in methods.values(), "EpochBody.churn")
    inlined = 0
    for kind, _, _, body in records:
        if kind != codemap.LOAD:
            continue
        _, size, method, pcs = codemap.load_of(body)
        expect(method in methods, "a LOAD's method has a name")
        offsets = [offset for offset, _ in pcs]
        expect(offsets == sorted(set(offsets)), "pcs ascend")
        expect(not offsets or offsets[-1] <= size, "pcs lie within the code")
        for _, frames in pcs:
            expect(all(number in methods for number, _ in frames), "every frame has a name")
            expect_equal(frames[-1][0], method, "outermost frame")
            inlined += len(frames) > 1
    expect(inlined > 10, "inlined frames")
    expect(count(records, codemap.UNLOAD) > 0, "code of dropped classes is unloaded")
    expect(count(records, codemap.DYNAMIC) > 100, "stubs")
    expect(any(b"Interpreter" in body for kind, _, _, body in records if kind == codemap.DYNAMIC),
           "the interpreter")
    threads = [codemap.thread_of(body) for kind, _, _, body in records if kind == codemap.THREAD]
    started = [t for t in threads if t[1].startswith("churn-thread-with-a-long-name-")]
    expect(started, "names of threads")
    expect(all(tid != process.pid and java_tid > 0 for tid, _, java_tid in started), "tids")
    expect(count(records, codemap.THREAD_END) > 0, "ends of threads")
    seen = {t[1]: t for t in (codemap.seen_thread_of(body) for kind, _, _, body in records
                              if kind == codemap.THREAD_SEEN)}
    expect("main" in seen and seen["main"][0] > 0, f"older threads: {sorted(seen)}")
    expect_equal(count(records, codemap.GAP), 0, "lost records")
    detach(process)


@test
def publishes_code_threads_and_stubs_17():
    check_publishes(17)


@test
def publishes_code_threads_and_stubs_25():
    check_publishes(25)


def check_jni(version):
    """-Xcheck:jni says nothing that it does not say without the agent."""
    process = churn(version, 9, "-Xcheck:jni")
    for _ in range(3):
        attach(process)
        consume(process, 1)
        detach(process)
    text = process.finish()
    expect(re.search(r"^rounds \d+$", text, re.M), "the program ends by itself")
    expect_not_in("WARNING", text, "output")
    expect_not_in("FATAL", text, "output")
    expect_not_in("JNI", text, "output")


@test
def xcheck_jni_has_no_complaint_17():
    check_jni(17)


@test
def xcheck_jni_has_no_complaint_25():
    check_jni(25)


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return int(re.search(r"^RssAnon:\s+(\d+) kB", status.read(), re.M)[1]) << 10


def cycles(process, number):
    """Attach and detach NUMBER times; the least memory that the JVM held in the last 20."""
    held = []
    for i in range(number):
        attach(process)
        if i % 2:
            consume(process, 0.05)
        detach(process)
        held.append(anonymous_bytes(process.pid))
    return min(held[-20:])


def check_cycles(version):
    """100 attach/detach cycles under load: the JVM lives, its memory is flat, no thread is left.

    One compilation may leave a compiler thread's arena larger by 4 MB, once. A leak of the agent
    goes on, so growth fails only when it comes again in the next 100.
    """
    process = churn(version, 300, "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")
    held = [cycles(process, 40), cycles(process, 60)]
    if held[-1] - held[-2] >= CYCLES_GROWTH:
        held.append(cycles(process, 100))
    expect(process.running(), "the JVM lives")
    print(f"# anonymous memory {[n >> 10 for n in held]} kB", flush=True)
    expect(held[-1] - held[-2] < CYCLES_GROWTH, "memory grows with every attaching")
    wait_until(lambda: "hostprof agent"[:15] not in comms(process.pid), 5, "control thread ended")


def comms(pid):
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as comm:
                found.append(comm.read().strip())
        except FileNotFoundError:
            pass
    return found


@test
def a_hundred_cycles_17():
    check_cycles(17)


@test
def a_hundred_cycles_25():
    check_cycles(25)


def check_generations(version):
    """Threads that an agent saw end when it is detached; the next agent must not touch their memory.

    Freed memory is filled, so that a JVM which writes there does not live through it.
    """
    process = java(version, "Generations", flags=("-Xmx64m",), stdin=subprocess.PIPE,
                   stderr=subprocess.STDOUT, env={**os.environ, "MALLOC_PERTURB_": "165"})
    for generation in range(1, 16):
        attach(process)
        records = consume(process, 0)
        expect(count(records, codemap.THREAD_SEEN) >= 60, "the threads are seen")
        detach(process)
        process.go()
        process.wait_text(f"ready {generation}\n")
    process.popen.stdin.close()
    process.finish()


@test
def threads_end_between_two_agents_8():
    check_generations(8)


@test
def threads_end_between_two_agents_17():
    check_generations(17)


@test
def threads_end_between_two_agents_25():
    check_generations(25)


def stays(code_map, field, seconds):
    before = code_map[field]
    time.sleep(seconds)
    return code_map[field] == before


@test
def a_killed_consumer_turns_the_events_off():
    process = churn(17, 60)
    attach(process)
    holder = start([sys.executable, CODEMAP, process.pid, "hold"]).wait_text()
    code_map = codemap.CodeMap(process.pid)
    expect_equal(code_map["events_on"], codemap.CODE | codemap.THREADS, "events while it lives")
    time.sleep(4)
    expect_equal(code_map["events_on"], codemap.CODE | codemap.THREADS, "events after 4 s")
    holder.signal(signal.SIGKILL)
    wait_until(lambda: code_map["events_on"] == 0, 10, "events off after the consumer's death")
    # What threads were about to publish then is not much, however late they come to it on a busy machine.
    wait_until(lambda: stays(code_map, "head", 1), 15, "nothing is published any more")
    # The next one gets everything again.
    expect(count(consume(process, 0.5), codemap.LOAD) > 10, "a replay for the next consumer")


@test
def lost_records_are_announced():
    """A ring that looks full: events are dropped, counted, and a GAP comes when there is room."""
    process = churn(17, 60)
    attach(process)
    code_map = codemap.CodeMap(process.pid)
    code_map.take_lease()
    cleanup(code_map.release)
    code_map.read_replay()
    begin = time.monotonic_ns()
    code_map["tail"] = code_map["head"] + 8
    wait_until(lambda: code_map["dropped"] > 10, 10, "dropped records")
    code_map["tail"] = code_map["head"]
    time.sleep(1.5)
    gaps = [(when, body) for kind, _, when, body in code_map.read() if kind == codemap.GAP]
    expect(gaps, "a GAP record")
    expect(begin <= gaps[0][0] <= time.monotonic_ns(), "its time is that of the first loss")
    lost = int.from_bytes(gaps[0][1][:8], "little")
    expect(10 < lost <= code_map["dropped"], f"the number of lost records, {lost}")
    expect(count(code_map.read_replay(), codemap.LOAD) > 10, "a replay mends it")


def check_agentpath(version):
    process = java(version, "Churn", 5, flags=(f"-agentpath:{AGENT}=start,colour=red", "-Xcheck:jni"),
                   stderr=subprocess.STDOUT)
    expect_in('hostprof agent: option "colour=red" is not known, ignored', process.text)
    wait_until(lambda: codemap.find(process.pid), 5, "code map")
    code_map = codemap.CodeMap(process.pid)
    wait_until(lambda: code_map["events_on"] == 0, 5, "no events without a consumer")
    expect_equal(code_map["cannot"], 0, "what it cannot")
    expect(code_map["agent_bytes"] <= 8 << 20, "memory")
    expect(count(consume(process, 1), codemap.LOAD) > 10, "code")
    detach(process)
    attach(process)
    expect(count(consume(process, 1), codemap.LOAD) > 10, "code after it was attached again")
    text = process.finish()
    expect(re.search(r"^rounds \d+$", text, re.M), "the program ends by itself")
    expect_not_in("JNI", text, "output")


@test
def agentpath_17():
    check_agentpath(17)


@test
def agentpath_25():
    check_agentpath(25)


@test
def it_runs_everywhere():
    """Nothing newer than GLIBC_2.17 and nothing that musl lacks; only the entry points go out."""
    text = run(["readelf", "-W", "--dyn-syms", AGENT], code=0).out
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", text)]
    expect(versions and max(versions) <= (2, 17), f"newest glibc symbol version: {max(versions)}")
    exported = set(re.findall(r"GLOBAL DEFAULT +\d+ (\w+)", text))
    expect(exported <= {"Agent_OnLoad", "Agent_OnAttach", "Agent_OnUnload", "hostprof_alloc", "hostprof_lock",
                        "hostprof_lock_begin"},
           f"exported: {exported}")
    needed = set(re.findall(r"Shared library: \[(.*)\]", run(["readelf", "-dW", AGENT]).out))
    expect(needed <= {"libc.so.6"}, f"libraries needed: {needed}")


main(lanes=2)
