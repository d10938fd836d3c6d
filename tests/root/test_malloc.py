#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""-e malloc: native memory by the functions that give it, of each C library and allocator there is, and through Java."""
import functools
import math

import gates
from hp import *

MALLOCS = os.path.join(WORKLOADS, "mallocs")
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads")
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
PRELOADED = ("libjemalloc.so.2", "libtcmalloc.so.4")
# Runs a program that no other mount namespace has.
ELSEWHERE = 'mount -t tmpfs none "$1" && cp "$2" "$1/program" && exec "$1/program" "$3" "$4"'
TURNS = 100
MANY = 50_000
JAVA_TURNS = 500
LEAK_TURNS = 4000
INTERVAL = 512 << 10
JAVA = {"NativeMemory.direct": ("java.nio.ByteBuffer.allocateDirect", 100_008),
        "NativeMemory.unsafe": ("sun.misc.Unsafe.allocateMemory", 50_008)}


def need_uprobes():
    need_root()
    if not os.path.exists("/sys/bus/event_source/devices/uprobe/type"):
        skip("this kernel has no uprobes")


def workload(program, mode, turns, **more):
    argv = program if isinstance(program, list) else [program]
    return start([*argv, mode, turns], stdin=subprocess.PIPE, **more).wait_text()


def let_run(*processes):
    """Let them run beside each other, to their ends; what each took: name → (objects, bytes)."""
    go_to_the_end(processes)
    for process in processes:
        rows = [row.split() for row in process.text.splitlines() if row.startswith("by_")]
        yield {name: (int(objects), int(size)) for name, objects, size in rows}


@functools.cache
def stacks(path, *args):
    """Many processes are in one recording."""
    return collapsed(path, *args)


def sums(path, pid, names, *args, event="malloc"):
    """Name → weight of the stacks of PID that it is in."""
    lines = of_pid(stacks(path, "--event", event, *args), pid)
    return {name: total([line for line in lines if name in line.frames]) for name in names}


def check_exact(path, process, took):
    """Every call is a sample of as many bytes as it asked for, and its stack is whole."""
    expect_equal(sums(path, process.pid, took), {name: objects for name, (objects, _) in took.items()}, "calls")
    expect_equal(sums(path, process.pid, took, "--total"), {name: size for name, (_, size) in took.items()}, "bytes")
    for line in of_pid(stacks(path, "--event", "malloc"), process.pid):
        expect(not any(frame.startswith("[unwind") for frame in line.frames), f"not whole: {line}")


# --- exact totals -----------------------------------------------------------------------------


def variants():
    """What there is here of C libraries and allocators: name → (program, its environment); and what there is not."""
    found, missing = {"glibc": (MALLOCS, {})}, []
    source = os.path.join(SOURCES, "mallocs.c")
    built = {"glibc, static": ["gcc", "-static"], "musl": ["musl-gcc"], "musl, static": ["musl-gcc", "-static"]}
    for name, command in built.items():
        program = temp_path("mallocs")
        if not shutil.which(command[0]) or run([*command, "-O2", "-g", "-o", program, source, "-lpthread"]).code:
            missing.append(name)
        else:
            found[name] = (program, {})
    program, _ = found.get("musl, static", found["glibc"])
    found["in a mount namespace"] = (["unshare", "-m", "sh", "-c", ELSEWHERE, "sh", temp_dir(), program], {})
    for library in PRELOADED:
        preload = os.path.join(LIBRARIES, library)
        if os.path.exists(preload):
            found[library] = (MALLOCS, {"LD_PRELOAD": preload})
        else:
            missing.append(library)
    return found, missing


@test
def every_call_of_every_allocator():
    """Each way to ask for memory, at an interval of 0; calls of one another count once."""
    need_uprobes()
    found, missing = variants()
    print(f"# {len(found)} allocators: {', '.join(found)}; skipped, as they are not here: {len(missing)} {missing}")
    processes = {name: workload(program, "exact", TURNS, env={**os.environ, **env})
                 for name, (program, env) in found.items()}
    pids = ",".join(str(process.pid) for process in processes.values())
    recorder = Recorder("-p", pids, "-e", "malloc=0")
    took = dict(zip(processes, let_run(*processes.values())))
    path = recorder.end()
    expect_equal(read_json(recorder.stats_path)["lost"], 0, "lost samples")
    for name, process in processes.items():
        print(f"# {name}: {len(took[name])} ways, {sum(objects for objects, _ in took[name].values())} calls")
        check_exact(path, process, took[name])


# --- sums of samples --------------------------------------------------------------------------


def deviation(objects, size):
    """Standard deviation of the bytes that samples of OBJECTS, each of SIZE bytes, stand for."""
    chance = -math.expm1(-size / INTERVAL)
    return size * math.sqrt(objects * (1 - chance) / chance)


@test
def sums_are_unbiased_at_the_default():
    """Sizes far below, near and far above the interval, in two threads: bytes and objects within four deviations."""
    need_uprobes()
    process = workload(MALLOCS, "many", MANY)
    recorder = Recorder("-p", process.pid, "-e", "malloc")
    took, = let_run(process)
    path = recorder.end()
    samples, weights = sums(path, process.pid, took), sums(path, process.pid, took, "--total")
    for name, (objects, size) in took.items():
        bound = 4 * deviation(objects, size / objects)
        print(f"# {name}: {samples[name]} samples of {objects} calls, {100 * (weights[name] / size - 1):+.2f} % "
              f"(bound {100 * bound / size:.2f} %)")
        expect(abs(weights[name] - size) <= bound, f"bytes of {name}: {weights[name]}, true {size}")
    expect(samples["by_small"] < took["by_small"][0] / 100, "a call that is not taken is a sample")


# --- what is not given back -------------------------------------------------------------------


def live_of(args, *modes):
    """What MODES of the workload keep, recorded side by side: for each (what it took, name → samples, bytes)."""
    processes = [workload(MALLOCS, mode, turns) for mode, turns in modes]
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes), "--live", *args)
    took = list(let_run(*processes))
    path = recorder.end()
    expect_equal(read_json(recorder.stats_path)["lost"], 0, "lost samples")
    expect_equal(read_json(recorder.stats_path)["capture"]["not_kept"], 0, "sampled memory that is not followed")
    return [(taken, sums(path, process.pid, taken, event="malloc-live"),
             sums(path, process.pid, taken, "--total", event="malloc-live"), path)
            for process, taken in zip(processes, took)]


@test
def a_leak_is_found_and_no_other():
    """Each call: what is kept is there to the byte, what is freed and moved is not."""
    need_uprobes()
    (took, samples, weights, path), (_, _, freed, _) = live_of(["-e", "malloc=0"], ("leak", 1000), ("freed", 1000))
    expect_equal(samples["by_keeping"], took["by_keeping"][0], "objects that are kept")
    expect_equal(weights["by_keeping"], took["by_keeping"][1], "bytes that are kept")
    expect_equal([weights["by_dropping"], weights["by_moving"]], [0, 0], "bytes that were freed")
    expect_equal(set(freed.values()), {0}, "bytes of the program without a leak")
    ages = re.findall(r"age = (\d+)", run([f"{jdk(17)}/bin/jfr", "print", "--events", "hostprof.EventSample", path], code=0).out)
    expect(ages and all(0 <= int(age) < 60 for age in ages), f"ages in seconds: {ages[:5]}")


def weights_of(path, event, name):
    """Of each sample in which NAME called."""
    rows = run([f"{jdk(17)}/bin/jfr", "print", "--json", "--stack-depth", "2", "--events", event, path], code=0, timeout=120).out
    samples = [row["values"] for row in json.loads(rows)["recording"]["events"]]
    return [values["size" if "size" in values else "weight"] for values in samples
            if any(frame["method"]["name"] == name for frame in values["stackTrace"]["frames"])]


@test
def a_leak_of_known_size_by_samples():
    """
    Every sampled call that keeps its memory is there at the end, and together they stand for what was kept. The interval was
    doubled meanwhile, so each sample's variance is what its own weight w says of an object of s bytes: w (w - s), unbiased.
    """
    need_uprobes()
    (took, samples, weights, path), = live_of(["-e", "malloc=64k"], ("leak", LEAK_TURNS))
    objects, size = took["by_keeping"]
    each = size // objects
    kept = weights_of(path, "hostprof.EventSample", "by_keeping")
    bound = 4 * sum(weight * (weight - each) for weight in kept) ** 0.5
    print(f"# {len(kept)} samples of {objects}, intervals of {sorted(set(kept))}: {100 * (sum(kept) / size - 1):+.2f} % "
          f"(bound {100 * bound / size:.2f} %)")
    expect_equal((samples["by_keeping"], weights["by_keeping"]), (len(kept), sum(kept)), "samples by two ways")
    expect_equal(sorted(kept), sorted(weights_of(path, "profiler.Malloc", "by_keeping")), "sampled calls that keep their memory")
    expect(bound < size / 3, f"{len(kept)} samples say little")
    expect(abs(sum(kept) - size) <= bound, f"a leak of {size} bytes: {sum(kept)}")
    expect_equal([weights["by_dropping"], weights["by_moving"]], [0, 0], "bytes that were freed")


# --- no harm ----------------------------------------------------------------------------------


def code_of_libc(pid):
    """The C library's code in the process's memory, and in its file."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        row = next(row.split() for row in file if " r-xp " in row and row.rstrip().endswith("/libc.so.6"))
    begin, end = (int(word, 16) for word in row[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb") as memory, open(row[-1], "rb") as file:
        memory.seek(begin)
        file.seek(int(row[2], 16))
        return memory.read(end - begin), file.read(end - begin)


@test
def hostprof_is_killed():
    """The process runs on, and its code is what its file has."""
    need_uprobes()
    process = workload(MALLOCS, "freed", 50_000)
    recorder = Recorder("-p", process.pid, "-e", "malloc=64k", "--live")
    process.go()
    time.sleep(0.8)
    probed, true_code = code_of_libc(process.pid)
    expect(probed != true_code, "no probe is there")
    recorder.signal(signal.SIGKILL)
    recorder.finish(code=-signal.SIGKILL)
    expect_equal(process.popen.poll(), None, "the process has ended")

    def is_clean():
        now, as_it_was = code_of_libc(process.pid)
        return now == as_it_was
    wait_until(is_clean, what="code without probes")
    process.wait_text("done", 60)


@test
def exceptions_find_their_way():
    """A function whose return is probed cannot be left by an exception: std::bad_alloc of each allocator's operator new is caught."""
    need_uprobes()
    program = temp_path("no_memory")
    run(["g++", "-O2", "-o", program, os.path.join(SOURCES, "no_memory.cc")], code=0)
    preloads = [""] + [os.path.join(LIBRARIES, library) for library in PRELOADED if os.path.exists(os.path.join(LIBRARIES, library))]
    processes = [start([program, 200], stdin=subprocess.PIPE, env={**os.environ, "LD_PRELOAD": preload}, stderr=subprocess.DEVNULL).wait_text()
                 for preload in preloads]
    recorder = Recorder("-p", ",".join(str(process.pid) for process in processes), "-e", "malloc=0", "--live")
    for process in processes:
        process.go()
        process.wait_text("done", 60)
        expect_in("caught 200\n", process.text)
    path = recorder.end()
    for process, preload in zip(processes, preloads):
        # libstdc++ asks for memory for the exception, too. How the stacks are is not what this is about.
        expect(total(of_pid(stacks(path, "--event", "malloc"), process.pid)) >= 200, f"calls by new: {preload}")


@test
def stacks_while_the_kernel_does_what_is_probed():
    """
    The kernel carries out a probed `push` itself, first the stack and then pc: who is sampled in between has still called what he has called. By
    programs that do nothing but ask for memory, each with another allocator, and so with another first instruction.
    """
    need_uprobes()
    # Files of their own: who else records with --live has the returns of a shared one probed.
    program = temp_path("storm")
    run(["gcc", "-O2", "-g", "-static", "-o", program, os.path.join(SOURCES, "storm.c"), "-lpthread"], code=0)
    libraries = [shutil.copy(path, temp_dir()) for path in (os.path.join(LIBRARIES, library) for library in PRELOADED) if os.path.exists(path)]
    programs = [start([program, "memory", 1]).wait_text()]
    programs += [start([os.path.join(WORKLOADS, "storm"), "memory", 1], env={**os.environ, "LD_PRELOAD": library}).wait_text()
                 for library in libraries]
    recorder = Recorder("-p", ",".join(str(program.pid) for program in programs), "-e", "cpu,malloc", "-F", "1999")
    time.sleep(5)
    lines = collapsed(recorder.end(), "--event", "cpu", "--annotate")
    within = total([line for line in lines if any("push_emulate_op" in frame for frame in line.frames)])
    bad = [line for line in lines if not in_order(line.frames, "start_thread", "memory")]
    print(f"# {len(programs)} allocators: {total(bad)} of {total(lines)} without their callers; {within} while a push is carried out")
    for line in bad[:5]:
        print(f"#   {line}")
    expect(total(lines) > 4000, "too few samples")
    expect(total(bad) <= gates.most_bad(total(lines)), "stacks without their callers")


# --- through Java -----------------------------------------------------------------------------


@for_each_jdk([17, 25])
def java_takes_native_memory(version):
    """Direct buffers and Unsafe: Java's frames down to malloc(). What the JVM takes for itself meanwhile is less than 1 %."""
    need_uprobes()
    process = java(version, "NativeMemory", JAVA_TURNS, flags=["-XX:-Inline"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    recorder = Recorder("-p", process.pid, "-e", "malloc=0")
    process.go()
    process.wait_text("done", 60)
    path = recorder.end()
    for name, (between, size) in JAVA.items():
        lines = [line for line in collapsed(path, "--event", "malloc", "--total")
                 if in_order(line.frames, "java.lang.Thread.run", "NativeMemory.run", name, between, "malloc")]
        expect_between(total(lines), 0.99 * JAVA_TURNS * size, 1.01 * JAVA_TURNS * size, f"bytes of {name}")


main(lanes=3)
