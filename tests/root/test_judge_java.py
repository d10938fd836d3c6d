#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge of Java stacks convicts what it must: needs neither root nor a JVM.

tests/data/judges/java.txt has stacks that were recorded from the cases of spine_cases.py on Debian's OpenJDK 17 and
25: the version, the case, the frames. java_calls_VERSION.txt is what the judge looked up in the JDK's class files
for them. Each is accepted as it is, and rejected with each damage of DAMAGES that it can have.
"""
import types

import gates
import spine_rows
from hp import *
from java_calls import of_file
from java_stacks import BELOW_LEAF, Judge, Process, Verdict, judge_other, parse_frame, tree_of
from spine_cases import CASES, NO_ROW, misses_of, misses_of_sum, paths_of, row_of

DATA = os.path.join(ROOT, "tests", "data", "judges")
# Where the C library of the recordings has its sigreturn; what else of it has an address has no symbol.
TRAMPOLINE = "[libc.so.6+0x406af]"


class RecordedProcess(Process):
    """Its files are not here: an address of libspine.so should have had a name, those of others not."""

    def __init__(self, version):
        super().__init__(version, of_file(os.path.join(DATA, f"java_calls_{version}.txt")), {})

    def nameless(self, frame):
        if re.match(r"\[lib(c|m|z|jvm|java|zip)\.so[.\d]*\+0x", frame.name):
            return False
        return super().nameless(frame)

    def is_trampoline(self, frame):
        return frame.name == TRAMPOLINE


def recorded():
    """(judge, frames) of each stack."""
    processes = {version: RecordedProcess(version) for version in (17, 25)}
    with open(os.path.join(DATA, "java.txt"), encoding="utf-8") as file:
        for row in file:
            version, case, text = row.rstrip("\n").split(" ", 2)
            judge = Judge(tree_of(paths_of(CASES[case.replace("_", " ")])), processes[int(version)])
            yield judge, text.split(";")


def verdict_of(judge, frames):
    return judge.judge([parse_frame(frame) for frame in frames])


# --- damages: each yields the damaged stacks that it makes of one ------------------------------


def places(frames, pattern, first=0):
    return [i for i, frame in enumerate(frames) if i >= first and re.match(pattern, frame)]


LINK = r"Links\$\w+\.step_|Links\$\$Lambda"
STEP = r"Links\$[A-HJKMORXY]\w*\.step_"
JAVA_FRAME = r".*_\[[0j]\]$"


def with_frame(frames, at, *others):
    return [*frames[:at], *others, *frames[at + 1:]]


def root_part_only(frames):
    """Nothing of the program is left: the thread's start alone."""
    yield frames[:places(frames, "call_stub")[0] + 1]


def leaf_side_only(frames):
    for at in places(frames, STEP)[:3]:
        yield frames[at:]


def lost_thread_start(frames):
    for at in range(1, places(frames, "call_stub")[0] + 1):
        yield frames[at:]


def start_without_a_frame(frames):
    for at in range(places(frames, "call_stub")[0] + 1):
        yield with_frame(frames, at)


def start_with_one_more(frames):
    for at in range(1, places(frames, "call_stub")[0] + 1):
        yield [*frames[:at], frames[at - 1], *frames[at:]]


def link_replaced(name):
    def damage(frames):
        for at in places(frames, JAVA_FRAME)[:-1]:
            yield with_frame(frames, at, name)
    damage.__doc__ = f"A Java frame that is not the last is {name}."
    return damage


def link_missing(frames):
    steps = places(frames, STEP)
    for at in steps[:-1]:
        yield with_frame(frames, at)


def link_twice(frames):
    for at in places(frames, STEP):
        yield [*frames[:at], frames[at], *frames[at:]]


def links_swapped(frames):
    for one, other in zip(places(frames, STEP), places(frames, STEP)[1:]):
        if other == one + 1 and frames[one] != frames[other]:
            yield [*frames[:one], frames[other], frames[one], *frames[other + 1:]]


def wrong_method_of_the_class(frames):
    for at in places(frames, STEP):
        yield with_frame(frames, at, frames[at].replace(".step_", ".stop_"))


def wrong_class(frames):
    """The next kind of link in a link's place."""
    for at in places(frames, r"Links\$[A-G]\.step_")[:-1]:
        yield with_frame(frames, at, frames[at].replace(frames[at][6], chr(ord(frames[at][6]) + 1)))


def native_below_java(frames):
    """Native code that no Java frame here can call, below one that is in the middle, and below the last."""
    for name in ("malloc", "JVM_MonitorWait", "Java_java_lang_Object_wait", "PhaseOutput::Output",
                 "CompileBroker::compiler_thread_loop"):
        for at in places(frames, JAVA_FRAME):
            yield [*frames[:at + 1], name, *frames[at + 1:]]


def native_address_below_java(frames):
    for at in places(frames, STEP):
        yield [*frames[:at + 1], "[libspine.so+0x1190]"]


def leaf_of_another_java_method(frames):
    """A JDK's method that the frame above does not call."""
    for name in ("java.lang.Thread.sleep", "java.util.TimSort.sort", "java.net.Socket.connect"):
        for kind in "0j":
            for at in places(frames, STEP):
                yield [*frames[:at + 1], f"{name}_[{kind}]"]


def method_of(frame):
    return parse_frame(frame).name.rpartition(".")[2]


def jdk_frame_missing(frames):
    """Between two interpreted frames: nothing can be inlined there. Where a method's callee has its own name, in
    another class behind the same interface, nobody can tell."""
    for at in places(frames, r"(java|jdk|sun)[\w.$/]+_\[0\]$"):
        if at + 1 < len(frames) and frames[at - 1].endswith("_[0]") and re.match(JAVA_FRAME, frames[at + 1]) and \
           parse_frame(frames[at]).name != parse_frame(frames[at - 1]).name and \
           method_of(frames[at]) != method_of(frames[at + 1]):
            yield with_frame(frames, at)


def jdk_frame_invented(frames):
    for at in places(frames, r"(java|jdk|sun)[\w.$/]+_\[0\]$"):
        yield [*frames[:at + 1], "java.lang.Thread.yield_[0]", *frames[at + 1:]]


def call_stub_missing(frames):
    for at in places(frames, "call_stub"):
        yield with_frame(frames, at)


def stubs_caller_missing(frames):
    """The Java method that calls into the JVM or C; where the one above is interpreted that one may have."""
    for at in places(frames, r"InterpreterRuntime::|Java_Native_|spine_outer"):
        if not frames[at].startswith("Interp") or not frames[at - 2].endswith("_[0]"):
            yield with_frame(frames, at - 1)


def frames_of_another_thread(frames):
    at = places(frames, "Spine")[0]
    other = ["[thread start]", "[libc.so.6+0x94db7]", "thread_native_entry", "Thread::call_run", "VMThread::run"]
    yield [*other, *frames[at:]]
    yield [*frames[:at], "VMThread::inner_execute", "VM_GC_Operation::doit"]
    yield [*frames[:at], "java.lang.ref.Finalizer$FinalizerThread.run_[0]"]


def inlined_from_elsewhere(frames):
    for at in places(frames, STEP):
        yield [*frames[:at + 1], "Chain.burn_[i]", *frames[at + 1:]]


def jni_function_of_another_method(frames):
    for at in places(frames, r"Java_Native_"):
        yield with_frame(frames, at, "Java_Native_interrupt")


def c_frame_missing(frames):
    for name in ("spine_outer", "spine_inner", "spine_work"):
        for at in places(frames, name):
            if at + 1 < len(frames) and not frames[at + 1].startswith("[libc"):
                yield with_frame(frames, at)


def no_way_back_from_c(frames):
    """C calls Java without the JVM's frames."""
    for at in places(frames, "jni_CallLongMethod"):
        stubs = places(frames, "call_stub", at)
        if stubs:
            yield [*frames[:at], *frames[stubs[0] + 1:]]


def kernel_frames_in_the_middle(frames):
    at = places(frames, "Spine")[0]
    yield [*frames[:at], "do_syscall_64_[k]", *frames[at:]]


def mark(text):
    def damage(frames):
        yield [*frames, text]
        yield [text, *frames[3:]]
        yield [*frames[:12], text, *frames[13:]]
    damage.__doc__ = f"hostprof says {text}."
    return damage


def handler_elsewhere(frames):
    for at in places(frames, STEP):
        yield [*frames[:at + 1], "spine_on_signal", "spine_work"]
        yield [*frames[:at + 1], TRAMPOLINE, "spine_on_signal", "Java_Native_work"]


def lambda_body_missing(frames):
    for at in places(frames, r"Links\.lambda\$"):
        if frames[at - 1].endswith("_[0]"):
            yield with_frame(frames, at)


def no_user_frames(frames):
    yield ["do_syscall_64_[k]"]
    yield []


DAMAGES = {
    **{damage.__name__: damage for damage in (
        root_part_only, leaf_side_only, lost_thread_start, start_without_a_frame, start_with_one_more, link_missing,
        link_twice, links_swapped, wrong_method_of_the_class, wrong_class, native_below_java,
        native_address_below_java, leaf_of_another_java_method, jdk_frame_missing, jdk_frame_invented,
        call_stub_missing, stubs_caller_missing, frames_of_another_thread, inlined_from_elsewhere,
        jni_function_of_another_method, c_frame_missing, no_way_back_from_c, kernel_frames_in_the_middle,
        handler_elsewhere, lambda_body_missing, no_user_frames)},
    **{f"link is {name}": link_replaced(name) for name in ("[JIT]_[j]", "Interpreter", "[unknown]", "[evicted]",
                                                          "[libjvm.so+0x12]_[j]", "")},
    **{f"mark {text}": mark(text) for text in ("[unwind: depth]", "[unwind: bad-java-frame]", "[frozen frames]",
                                               "[native frames skipped]")},
}


@test
def recorded_stacks_are_accepted():
    count = 0
    for judge, frames in recorded():
        verdict = verdict_of(judge, frames)
        expect(verdict.good, f"{verdict.why}: {';'.join(frames)}")
        count += 1
    expect(count >= 30, f"only {count} stacks")


@test
def stacks_that_are_being_built_are_accepted():
    """Each begin of a stack that ends with a link of the program is one."""
    for judge, frames in recorded():
        for at in places(frames, LINK):
            expect(verdict_of(judge, frames[:at + 1]).good, f"{frames[:at + 1]}")


@test
def every_damage_is_rejected():
    judged = collections.Counter()
    accepted = []
    for judge, frames in recorded():
        user = [frame for frame in frames if not frame.endswith("_[k]")]
        for name, damage in DAMAGES.items():
            for stack in damage(user):
                judged[name] += 1
                if verdict_of(judge, stack).good and stack != user:
                    accepted.append(f"{name}: {';'.join(stack)}")
    print(f"# {judged.total()} damaged stacks of {len(judged)} kinds")
    for text in accepted[:10]:
        print(f"# accepted: {text[:40]} … {text[-400:]}")
    expect_equal(len(accepted), 0, "damaged stacks that are accepted")
    expect_equal([name for name in DAMAGES if not judged[name]], [], "damages that no stack can have")


# --- what single stacks cannot show ------------------------------------------------------------


def row_with(samples, reached=0, due=0, below=None, lost=0):
    row = NO_ROW._replace(samples=samples, reached=collections.Counter(Sort=reached),
                          below=collections.Counter(Sort=reached if below is None else below),
                          due=collections.Counter(Sort=due))
    return spine_rows.add_rows(row, spine_rows.missing_row(lost, "lost"))


@test
def lost_leaves_are_noticed():
    """Truncated stacks are whole each by itself: too few samples that reach a leaf tell."""
    expect_equal(misses_of({"good": row_with(3000, 610, 600)}, "", BELOW_LEAF), [], "a good cell")
    for what, row in {"half of the leaves": row_with(3000, 300, 600), "all leaves": row_with(3000, 0, 600),
                      "a third": row_with(3000, 400, 600),
                      "what is below the leaf": row_with(3000, 600, 600, below=100)}.items():
        expect(misses_of({what: row}, "", BELOW_LEAF), f"{what}: not noticed")
        expect(misses_of_sum([row], BELOW_LEAF), f"{what}: not noticed in the sum")


@test
def lost_samples_are_bad():
    for name in ("lost", "late_samples"):
        expect_equal(gates.dropped({"lost": 0, "late_samples": 0, name: 3}), 3, name)
    expect(misses_of({"lost": row_with(3000, 600, 600, lost=5)}, "", BELOW_LEAF), "5 lost ones of 3000 pass")


@test
def gates_are_as_small_as_samples_allow():
    """Poisson's limits by hand: mean 0.12 gives 2, 0.3 gives 3, 1.5 gives 6; a suite keeps the aim."""
    for samples, most in {1200: 2, 3000: 3, 15000: 6}.items():
        expect_equal(gates.most_bad(samples), most, f"{samples} samples")
    expect_equal(gates.most_bad_of_suite(100000), 10, "a suite of 100,000")
    expect_equal(gates.most_bad_of_suite(30000), gates.most_bad(30000), "one of 30,000 is judged as a cell")


@test
def accepted_ones_are_few():
    """Stacks that end in the interpreter's code without a method are accepted, but not many."""
    line = types.SimpleNamespace(count=1, thread="t", frames=["x"])
    row = row_with(3000, 600, 600)
    for count, wanted in ((30, 0), (300, 300)):
        noted = row
        for _ in range(count):
            noted = spine_rows.add_rows(noted, row_of(line, Verdict(True, "", "noted"))._replace(samples=0))
        expect_equal(spine_rows.bad(noted), wanted, f"bad of {count} noted ones")


@test
def threads_of_the_jvm_are_judged():
    process = RecordedProcess(17)
    start_of = ["[thread start]", "[libc.so.6+0x94db7]", "thread_native_entry", "Thread::call_run"]
    good = {"VM Thread": [*start_of, "VMThread::run", "VMThread::inner_execute"],
            "C2 CompilerThre": [*start_of, "JavaThread::thread_main_inner", "CompileBroker::compiler_thread_loop"],
            "GC Thread#0": [*start_of, "WorkerThread::run", "G1ParTask::work"]}
    for thread, frames in good.items():
        def judged(stack, thread=thread):
            return judge_other(process, thread, [parse_frame(frame) for frame in stack]).good
        expect(judged(frames), f"{thread} is good")
        for bad_one in (frames[1:], frames[3:], [*frames[:4], *frames[5:]], [frames[0], *frames[4:]],
                        [*frames, "[unwind: depth]"], [*frames, "[unknown]"], ["do_idle_[k]"],
                        [*frames, "java.lang.Thread.run_[0]"], [*frames, "call_stub"],
                        [*frames[:4], "Java_Native_call"]):
            expect(not judged(bad_one), f"{thread}: {bad_one}")


main()
