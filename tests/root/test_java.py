#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs first.
"""Java stacks with and without the agent: exact chains, shares, kinds, names of that moment."""
import collections
import datetime
import re

import gates
from hp import *
from java_stacks import broken, parse_frame
from java_vm import INTO_JAVA, of_family
from standstills import Standstills

PREFIX = "Chain."
CHAIN = ["java.lang.Thread.run", "Chain.run", "Chain.first", "Chain.second", "Chain.third",
         "Chain.burn"]
# Of each thread that is judged; how long that takes depends on what else the host does.
SAMPLES = 2000
# As many it runs before: its methods are compiled then.
WARM_SAMPLES = 1000
LATE = ["java.lang.Thread.run", "Chain.lateWhenAsked", "Chain.late", "Chain.lateBurn"]


def of_thread(lines, name):
    return [line for line in lines if line.thread.startswith(f"[{name} tid=")]


def unwind_reason(frames):
    found = re.match(r"\[unwind: (.*)\]$", plain(frames[0])) if frames else None
    return found.group(1) if found else "whole"


def report_others(lines, good):
    """Say why each sample is not as it should be; the shares add up to 100 %."""
    counts = collections.Counter()
    for line in lines:
        counts["as it must be" if good(line) else unwind_reason(line.frames)] += line.count
    everything = sum(counts.values())
    for reason, count in counts.most_common():
        print(f"#   {count:6} {100 * count / everything:6.2f} % {reason}")
    expect_equal(sum(counts.values()), total(lines), "sum over the reasons")
    bad = [line for line in lines if not good(line)]
    for line in sorted(bad, key=lambda each: -each.count)[:5]:
        print(f"#   {line.count} x {';'.join(line.frames)}")
    return counts["as it must be"]


def is_chain(frames, chain, version):
    """The thread's start as it is a constant, then the chain, or the first of its methods while the next one is
    not called; no frame without a name in between or below."""
    user = [parse_frame(frame) for frame in frames if not frame.endswith("_[k]")]
    names = [frame.name for frame in user]
    if "call_stub" not in names or broken(user) or "Interpreter" in names[:-1]:
        return False
    at = names.index("call_stub") + 1
    if not re.fullmatch(of_family(INTO_JAVA, version), ";".join(names[:at])):
        return False
    # runWith() is of newer JDKs; a thread's Runnable may be a class of its own.
    methods = [frame.name for frame in user[at:] if frame.java and
               not re.match(r"java\.lang\.Thread\.runWith$|Chain\$\d+\.run$|Chain\$\$Lambda", frame.name)]
    return in_order(methods, *chain) or 1 < len(methods) and methods == chain[:len(methods)]


def chain_of(lines, thread, chain, version, lost=0, least=SAMPLES):
    """The samples of a thread, after no more than its gate allows were found to be another chain, or lost, and at
    least 98 % to be the whole chain: in its first methods the thread is hardly ever (1.1 % seen)."""
    worker = of_thread(lines, thread)
    expect(total(worker) >= least, f"only {total(worker)} samples of {thread}; threads: "
           f"{sorted({line.thread for line in lines})}")
    print(f"# JDK {version}: {total(worker)} samples of {thread}")
    good = report_others(worker, lambda line: is_chain(line.frames, chain, version))
    bad, count = total(worker) - good + lost, total(worker) + lost
    expect(bad <= gates.most_bad(count), f"{bad} of {count} stacks are not the chain, {lost} of them lost")
    parts = [line for line in worker if not in_order([plain(frame) for frame in line.frames], *chain)]
    whole = total(worker) - total(parts)
    for line in sorted(parts, key=lambda line: -line.count)[:3]:
        print(f"#     {line.count} {';'.join(line.frames[-6:])}")
    expect(whole >= 0.98 * count, f"{whole} of {count} stacks hold the whole chain")
    return worker


def inlined_frames_stand_alone(worker):
    """
    Code that was compiled before the recording tells its inlining at safepoints only, and the hot
    loop has none in the inlined methods; so this is asked of code that is compiled during it.
    """
    inlined = [line for line in worker
               if {"Chain.lateStep_[i]", "Chain.lateMix_[i]"} & set(line.frames)]
    expect(total(inlined) > 0.5 * total(worker), f"only {total(inlined)} of {total(worker)} "
           "samples show lateStep or lateMix as inlined frames")
    for line in inlined:
        names = [plain(frame) for frame in line.frames]
        at = names.index("Chain.lateStep") if "Chain.lateStep" in names else \
            names.index("Chain.lateMix")
        expect(names[at - 1] == "Chain.lateBurn", f"odd caller of an inlined frame: {line}")


def chain_is_whole(version, *flags):
    need_root()
    jvm = java(version, "Chain", 600, "with-file", "late", stdin=subprocess.PIPE,
               flags=["-Xmx64m", *flags])
    let_run(jvm.pid, 997, {"chain-worker": WARM_SAMPLES})
    hostprof("attach", jvm.pid)
    recorder = Recorder("-p", jvm.pid, "-F", 997)
    recorder.wait_lease(jvm.pid)
    jvm.popen.stdin.write(b"go\n")
    jvm.popen.stdin.flush()
    let_run(jvm.pid, 997, {name: SAMPLES for name in ("chain-worker", "late-worker", "file-worker")})
    path = recorder.end()
    jvm.signal(signal.SIGSTOP)  # it is not to run beside what judges it
    lines = of_pid(collapsed(path, "-t", "--annotate"), jvm.pid)
    lost = gates.dropped(read_json(recorder.stats_path))
    chain_of(lines, "chain-worker", CHAIN, version, lost)
    late = chain_of(lines, "late-worker", LATE, version, lost)
    inlined_frames_stand_alone(late)
    kernel_below_java(lines)


def kernel_below_java(lines):
    reader = [line for line in of_thread(lines, "file-worker")
              if "Chain.readFile" in map(plain, line.frames)]
    in_kernel = [line for line in reader if line.frames[-1].endswith("_[k]")]
    expect(total(in_kernel) > 100,
           f"{total(in_kernel)} of {total(reader)} file-worker samples have kernel frames on top")
    for line in in_kernel:
        names = [plain(frame) for frame in line.frames]
        first_kernel = next(i for i, f in enumerate(line.frames) if f.endswith("_[k]"))
        expect("Chain.readFile" in names[:first_kernel], f"kernel frame not below Java: {line}")
    reading = [line for line in in_kernel
               if any(re.match(r"(ksys_read|vfs_read|__x64_sys_read|read_zero|rep_|clear_user|"
                               r".*iter_zero.*)", plain(f)) for f in line.frames)]
    # The rest is on its way in or out of the kernel, or in an interrupt; few are in another system call.
    other = [line for line in in_kernel
             if any(re.match(r"__x64_sys_(?!read$)", plain(frame)) for frame in line.frames)]
    expect(total(reading) > 0.5 * total(in_kernel) and total(other) <= 0.02 * total(in_kernel) + 1,
           f"of {total(in_kernel)} kernel stacks {total(reading)} are those of read(), {total(other)} of other "
           f"calls: {collections.Counter(plain(line.frames[-1]) for line in in_kernel).most_common(12)}")


@test
def chain_17():
    chain_is_whole(17)


@test
def chain_25():
    chain_is_whole(25)


@test
def chain_with_frame_pointers():
    chain_is_whole(17, "-XX:+PreserveFramePointer")


def stock_jvm_is_readable(version):
    """No flag, no agent, and none is loaded: methods with their kinds in every format."""
    need_root()
    jvm = java(version, "Chain", 600, "with-file", flags=["-Xmx64m"])
    let_run(jvm.pid, 997, {"chain-worker": WARM_SAMPLES})
    recorder = Recorder("-p", jvm.pid, "-F", 1997)
    let_run(jvm.pid, 1997, {"chain-worker": SAMPLES, "file-worker": SAMPLES})
    path = recorder.end()
    expect_equal(json_of("status", jvm.pid)["agent"], "none", "agent")
    jvm.signal(signal.SIGSTOP)
    lines = of_pid(collapsed(path, "-t", "--annotate"), jvm.pid)
    worker = chain_of(lines, "chain-worker", CHAIN, version, gates.dropped(read_json(recorder.stats_path)))
    kinds = {"java.lang.Thread.run_[0]", "Chain.run_[0]", "Chain.first_[j]"}
    right = [line for line in worker if kinds <= set(line.frames)]
    expect(total(right) > 0.99 * total(worker),
           f"{total(right)} of {total(worker)} samples have the frames {sorted(kinds)}")
    unnamed = [line for line in lines
               if {"[JIT]", "[evicted]", "[unknown]"} & set(map(plain, line.frames))]
    expect(total(unnamed) <= gates.most_bad(total(lines)),
           f"{total(unnamed)} of {total(lines)} samples have nameless frames: {unnamed[:3]}")
    kernel_below_java(lines)
    for format_name in ("txt", "svg"):
        out = temp_path(f"out.{format_name}")
        hostprof("report", path, "-o", out)
        with open(out, encoding="utf-8") as file:
            expect_in("Chain.readFile", file.read(), format_name)


@test
def stock_17():
    stock_jvm_is_readable(17)


@test
def stock_25():
    stock_jvm_is_readable(25)


@test
def an_agent_that_comes_later():
    """The first half of a recording is named from outside, the second by the agent."""
    need_root()
    jvm = java(17, "Chain", 600, flags=["-Xmx64m"])
    let_run(jvm.pid, 997, {"chain-worker": WARM_SAMPLES})
    began = thread_seconds(jvm.pid, "chain-worker")
    recorder = Recorder("-p", jvm.pid, "-F", 997)
    let_run(jvm.pid, 997, {"chain-worker": SAMPLES})
    hostprof("attach", jvm.pid)
    recorder.wait_lease(jvm.pid)
    # Attaching may take long: the second half is as long as what came before.
    alone = thread_seconds(jvm.pid, "chain-worker") - began
    let_run(jvm.pid, 997, {"chain-worker": 997 * alone})
    worker = of_thread(of_pid(collapsed(recorder.end(), "-t"), jvm.pid), "chain-worker")
    whole = [line for line in worker if in_order(line.frames, *CHAIN)]
    print(f"# {total(worker)} samples, {total(whole)} have all methods, the inlined ones, too")
    expect(total(whole) >= 0.99 * total(worker), "methods are missing")


class Shares:
    """A JVM that says in the end what each of its methods took, and its recording."""

    def __init__(self, version):
        self.version = version
        self.jvm = java(version, "Shares", 8, flags=["-Xmx64m"])
        hostprof("attach", self.jvm.pid)
        self.recorder = Recorder("-p", self.jvm.pid, "-F", 1997)
        self.recorder.wait_lease(self.jvm.pid)

    def judge(self):
        said = self.jvm.finish(timeout=180)
        lines = of_pid(collapsed(self.recorder.end()), self.jvm.pid)
        spent = [int(n) for n in expect_match(r"spent (\d+) (\d+) (\d+)", said).groups()]
        main_lines = [line for line in lines if "Shares.main" in line.frames]
        expect(total(main_lines) > 5000, f"only {total(main_lines)} samples below Shares.main")
        print(f"# JDK {self.version}: {total(main_lines)} samples")
        for name, ns in zip(("seventy", "twenty", "ten"), spent):
            true_share = ns / sum(spent)
            came = share(main_lines, f"Shares.{name}")
            print(f"#   {name}: {100 * came:.2f} %, by its own clock {100 * true_share:.2f} %")
            expect(abs(came - true_share) < 0.02, f"{name}: {came:.4f}, truly {true_share:.4f}")


@test
@alone
def shares_are_true():
    need_root()
    for shares in [Shares(version) for version in SETUP_JDKS]:
        shares.judge()


def wall_of(text):
    """Nanoseconds since the epoch of a JFR time such as 2026-11-21T10:10:44.123456789Z."""
    head, _, rest = text.partition(".")
    fraction = re.match(r"\d*", rest).group(0)
    zone = rest[len(fraction):] if rest else ""
    zone = "+00:00" if zone in ("Z", "") else zone
    seconds = datetime.datetime.fromisoformat(head.rstrip("Z") + zone).timestamp()
    return round(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9] or 0)


def samples_with_time(path, version):
    """(time, names root first) of every sample, as the JDK's own jfr tool reads them."""
    for values in read_by_jdk(path, "jdk.ExecutionSample", version=version, depth=2048):
        frames = (values["stackTrace"] or {}).get("frames", [])
        names = [f"{(f['method']['type'] or {}).get('name', '')}.{f['method']['name']}"
                 for f in reversed(frames)]
        yield wall_of(values["startTime"]), names


# What came while a cpu stood still is dealt with after it.
CATCH_UP_NS = 20_000_000


class Moments:
    """A JVM whose classes come and go, its code at the addresses of others, and its recording."""

    def __init__(self, version, agent):
        self.version, self.agent = version, agent
        self.log = temp_path("compilations.xml")
        self.jvm = java(version, "Epochs", 600,
                        flags=["-XX:ReservedCodeCacheSize=4m", "-Xmx64m", "-XX:+UnlockDiagnosticVMOptions",
                               "-XX:+LogCompilation", f"-XX:LogFile={self.log}"])
        if agent:
            hostprof("attach", self.jvm.pid)
        self.offset = max(time.time_ns() - time.monotonic_ns() for _ in range(50))
        self.recorder = Recorder("-p", self.jvm.pid, "-F", 997)
        if agent:
            self.recorder.wait_lease(self.jvm.pid)

    def finish(self):
        """Keeps the recording's path, and when each epoch began and ended."""
        # Some of its time goes into classes and collections.
        let_run(self.jvm.pid, 997, {"java": 2000})
        self.jvm.wait_text("epoch 28 ", 60)
        self.path = self.recorder.end()
        self.jvm.signal(signal.SIGTERM)
        said = self.jvm.finish(code=None)
        self.epochs = {int(k): (int(a), int(b)) for k, a, b in
                       re.findall(r"^epoch (\d+) (\d+) (\d+)$", said, re.MULTILINE)}
        expect(len(self.epochs) > 22, f"only {len(self.epochs)} epochs")

    def reused(self):
        """How many code addresses were used again."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            entries = collections.Counter(
                entry for entry in re.findall(r"<nmethod [^>]*entry='(0x[0-9a-f]+)'[^>]*Epoch_", file.read()))
        reused = sum(1 for count in entries.values() if count > 1)
        expect(reused >= 3, f"only {reused} code addresses were used again: the test proves nothing")
        return reused

    def judge(self, standstills):
        reused = self.reused()
        named = wrong = evicted = excused = 0
        for when, names in samples_with_time(self.path, self.version):
            inside = [int(m.group(1)) for m in (re.search(r"Epoch_(\d{3})", n) for n in names) if m]
            if any("[evicted]" in name for name in names):
                stood = standstills.has(when - self.offset, CATCH_UP_NS)
                evicted += not stood
                excused += stood
                evicted + excused <= 20 and print(f"# evicted at {(when - self.offset - min(self.epochs.values())[0]) / 1e6:.1f} ms: {names[-3:]}")
            for k in set(inside):
                named += 1
                begin, end = self.epochs.get(k, (0, 2**63))
                # Two clocks are compared, and the moment of printing lies outside: 5 ms on both sides.
                if not begin - 5e6 <= when - self.offset <= end + 5e6:
                    wrong += 1
                    wrong <= 5 and print(f"# Epoch_{k:03} at {(when - self.offset - begin) / 1e6:.3f} ms of its "
                                         f"{(end - begin) / 1e6:.1f} ms: {names[-3:]}")
        print(f"# JDK {self.version}, {'agent' if self.agent else 'outside'}: {named} samples with an epoch's name, "
              f"{evicted} evicted, {excused} more as a cpu stood still ({len(standstills.spans)} times), {reused} addresses used again, {len(self.epochs)} epochs")
        expect(named > 1700, f"only {named} samples carry an epoch's name")
        expect_equal(wrong, 0, "samples with the name of another epoch")
        expect(evicted <= 0.001 * named, f"{evicted} samples evicted")


def names_of_that_moment(agent):
    need_root()
    standstills = Standstills()
    both = [Moments(version, agent) for version in SETUP_JDKS]
    for moments in both:
        moments.finish()
    standstills.end()
    for moments in both:
        moments.judge(standstills)


@test
def names_of_that_moment_from_agents():
    names_of_that_moment(agent=True)


@test
def names_of_that_moment_from_outside():
    names_of_that_moment(agent=False)


def crowd_class(directory, number):
    """The class file of Named00 under another number."""
    with open(os.path.join(WORKLOADS, "Named00.class"), "rb") as file:
        data = file.read()
    data = data.replace(b"Named00", b"Named%02d" % number)
    data = data.replace(b"spin00", b"spin%02d" % number)
    with open(os.path.join(directory, f"Named{number:02}.class"), "wb") as file:
        file.write(data)


@test
def twenty_jvms():
    need_root()
    directory = temp_dir()
    homes = [jdk(17), jdk(25)]
    jvms = []
    for k in range(1, 21):
        crowd_class(directory, k)
        jvms.append(start([os.path.join(homes[k % 2], "bin", "java"), "-Xmx32m", "-Xss512k",
                           "-XX:+UseSerialGC", "-cp", directory, f"Named{k:02}", 600]))
    for jvm in jvms:
        jvm.wait_text("ready", timeout=90)
    listed = {row["pid"]: row for row in json_of("list")}
    for k, jvm in enumerate(jvms, 1):
        expect(jvm.pid in listed, f"pid {jvm.pid} is not listed")
        expect_equal(listed[jvm.pid]["main_class"], f"Named{k:02}", "main class")
    path = record("-p", ",".join(str(jvm.pid) for jvm in jvms), "-F", 997, "-d", 6,
                  "--agent=always", timeout=150)
    listed = {row["pid"]: row for row in json_of("list")}
    lines = collapsed(path)
    sampled = 0
    for k, jvm in enumerate(jvms, 1):
        mine = of_pid(lines, jvm.pid)
        expect(listed[jvm.pid]["agent"] != "none", f"Named{k:02} was not attached")
        named = [line for line in mine if f"Named{k:02}.spin{k:02}" in line.frames]
        expect(total(named) > 20, f"Named{k:02}: {total(named)} of {total(mine)} samples named")
        sampled += total(named)
        for line in mine:
            strangers = [f for f in line.frames
                         if re.match(r"Named\d\d\.", f) and not f.startswith(f"Named{k:02}.")]
            expect(not strangers, f"Named{k:02} has frames of another JVM: {strangers}")
        expect(jvm.running(), f"Named{k:02} has died")
    print(f"# {sampled} samples in 20 JVMs, each with its own names")


main(lanes=2)
