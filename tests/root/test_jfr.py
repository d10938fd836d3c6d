#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings as the JDK's own `jfr` reads them. Needs no root."""
from hp import *

SAMPLES = 24  # of one fixture in tests/unit/recording_fixture.h; the file has three, in two chunks


def jfr(version, *args, code=0):
    return jfr_tool(version, *args, code=code)


def fixture():
    """The recording that tests/unit/recording/test_recording.c compares with its model."""
    path = temp_path("fixture.jfr")
    run([os.path.join(BUILD, "tests", "test_recording"), "--write", path], code=0)
    return path


def events(version, path, *names):
    text = jfr(version, "print", "--json", "--stack-depth", "100",
               "--events", ",".join(names), path).out
    return [(event["type"], event["values"]) for event in json.loads(text)["recording"]["events"]]


def expected_samples():
    """(time in ms, weight, count, event) of every sample, as fixture_add() makes them."""
    for i in range(3 * SAMPLES):
        event = "cpu" if i % 5 != 4 else ("alloc", "cycles", "live")[i // 5 % 3]
        weight = 2**64 - 1 if i % SAMPLES == 0 else 1000 + i
        yield i, weight, 1 + i % 3, event


def check_summary(version):
    out = jfr(version, "summary", fixture()).out
    expect_match(r"Chunks: 2$", out, "summary")
    expect_match(r"Start: 2026-11-18 11:06:40", out, "summary")
    expect_match(r"jdk\.ExecutionSample\s+58\s", out, "summary")
    expect_match(r"hostprof\.EventSample\s+5\s", out, "summary")
    expect_match(r"jdk\.ObjectAllocationSample\s+5\s", out, "summary")
    expect_match(r"profiler\.LiveObject\s+4\s", out, "summary")
    expect_match(r"hostprof\.Quality\s+3\s", out, "summary")
    for declared in ("ObjectAllocationInNewTLAB", "Shutdown", "ActiveSetting", "JVMInformation"):
        expect_match(rf"jdk\.{declared}\s+0\s", out, "summary")


def time_ms(values):
    """Since the recording's start."""
    second, fraction = re.match(r".*T11:06:(\d+)(?:\.(\d+))?", values["startTime"]).groups()
    return (int(second) - 40) * 1000 + int((fraction or "0").ljust(9, "0")) // 1000000


def check_samples(version):
    came = []
    names = {"jdk.ExecutionSample": "cpu", "jdk.ObjectAllocationSample": "alloc", "profiler.LiveObject": "live"}
    for kind, v in events(version, fixture(), "hostprof.EventSample", *names):
        name = names[kind] if kind in names else v["eventName"]
        weight = v["allocationSize"] if name == "live" else v["weight"]
        # JDK 17 prints unsigned numbers as if they were not.
        came.append((time_ms(v), weight % 2**64, v["count"], name))
    expect_equal(sorted(came), sorted(expected_samples()), "samples")


def check_frames(version):
    samples = events(version, fixture(), "jdk.ExecutionSample")
    first = min(samples, key=lambda s: time_ms(s[1]))[1]
    frames = [(f["method"]["type"]["name"], f["method"]["name"], f["lineNumber"], f["type"])
              for f in first["stackTrace"]["frames"]]
    descriptors = {f["method"]["name"]: f["method"]["descriptor"] for f in first["stackTrace"]["frames"]}
    expect_equal({name: text for name, text in descriptors.items() if text != "()V"},
                 {"get": "(Ljava/lang/Object;)Ljava/lang/Object;", "lookup": "([B)V"}, "descriptors")
    expect_equal(frames, [
        ("kernel", "__x64_sys_read", 0, "Kernel"),
        ("libc.so.6", "read", 26, "Native"),
        ("libc.so.6", "[libc.so.6+0x28456]", 0, "Native"),
        ("vdso", "[vdso+0x9d0]", 0, "Native"),
        ("unknown", "std::vector<int>::push_back(int)", 0, "C++"),
        ("java/util/HashMap", "get", 557, "Inlined"),
        ("com/acme/Order$1", "lookup", 12, "JIT compiled"),
        ("com/acme/L$$Lambda/0x7f01", "lambda$0", 0, "C1 compiled"),
        ("java/lang/Thread", "run", 833, "Interpreted"),
        ("jvm", "call_stub", 0, "Native"),
        ("jit", "LazyCompile:~f a.js:1", 0, "JIT compiled"),
        ("[B", "<class>", 0, "Inlined"),
        ("hostprof", "[unwind: budget]", 0, "Native"),
        ("unknown", "[unknown+0xdead]", 0, "Native"),
        ("jvm", "[JIT]", 0, "JIT compiled"),
    ], "frames")
    expect_equal(first["state"], "STATE_RUNNABLE", "state")
    thread = first["sampledThread"]
    expect_equal((thread["osThreadId"], thread["javaThreadId"], thread["javaName"]),
                 (4243, 31, "http-nio-8080-exec-é"), "thread")
    expect_equal((first["pid"], first["process"]), (4242, "java"), "process")
    process = thread["process"]
    expect_equal((process["pid"], process["name"], process["mainClass"]),
                 (4242, "java", "com.acme.Main"), "process of the thread")
    expect_equal(first["container"], "deadbeefdeadbeef", "container")


def check_figures(version):
    path = fixture()
    (_, recording), *_ = events(version, path, "hostprof.Recording")
    expect_equal((recording["host"], recording["command"]),
                 ("build-7", "hostprof record -a -d 10s"), "recording")
    kinds = {(v["name"], v["unit"], v["period"]) for _, v in events(version, path, "hostprof.Event")}
    expect_equal(kinds, {("cpu", "nanoseconds", 10101010), ("alloc", "bytes", 0),
                         ("cycles", "count", 1000003), ("live", "bytes", 0)}, "events")
    quality = [(v["process"]["name"], v["eventName"], v["samples"], v["complete"], v["lost"])
               for _, v in events(version, path, "hostprof.Quality")]
    # Of the first chunk, then of the second one.
    expect_equal(quality, [("java", "cpu", 7, 6, 5), ("java", "cpu", 1000, 999, 3),
                           ("swapper", "alloc", 1000, 999, 3)], "quality")
    paths = {(v["path"], v["buildId"]) for _, v in events(version, path, "hostprof.Mapping")}
    expect_equal(paths, {("/usr/lib/libc.so.6", "0123abcd"), ("[vdso]", None)}, "mappings")


@test
def jdk_17_reads_it():
    check_summary(17)
    check_samples(17)
    check_frames(17)
    check_figures(17)


@test
def jdk_25_reads_it():
    check_summary(25)
    check_samples(25)
    check_frames(25)
    check_figures(25)


@test
def views_of_jdk_25():
    path = fixture()
    out = jfr(25, "view", "--width", "160", "hot-methods", path).out
    expect_match(r"^kernel\.__x64_sys_read\(\)\s+\d+\s", out, "hot-methods")
    # A method of two chunks is one row.
    names = re.findall(r"^(\S.*\(\)) +\d+ ", out, re.MULTILINE)
    expect_equal(len(names), len(set(names)), "rows")
    for view in ("recording", "tlabs", "allocation-by-class", "allocation-by-thread",
                 "contention-by-site", "native-methods", "cpu-time-hot-methods", "cpu-load",
                 "system-information", "jvm-information", "system-processes", "active-settings",
                 "hostprof.Quality", "hostprof.Process"):
        out = jfr(25, "view", view, path).out
        expect_not_in("Missing event", out, view)


@test
def jdk_splits_and_joins_it():
    """`jfr disassemble` and `assemble` go by the chunks' headers."""
    path = fixture()
    parts = temp_dir()
    jfr(25, "disassemble", "--output", parts, "--max-chunks", "1", path)
    expect_equal(len(os.listdir(parts)), 2, "parts")
    joined = temp_path("joined.jfr")
    jfr(25, "assemble", parts, joined)
    with open(path, "rb") as a, open(joined, "rb") as b:
        expect_equal(len(b.read()), len(a.read()), "bytes")


@test
def reads_recordings_of_the_jdk():
    """The JDK's samples, by its own tool and by ours."""
    for version in (17, 25):
        path = temp_path("jdk.jfr")
        source = temp_path("Spin.java")
        with open(source, "w", encoding="utf-8") as out:
            out.write("class Spin { public static void main(String[] a) { long s = 0;"
                      " long end = System.currentTimeMillis() + 1500;"
                      " while (System.currentTimeMillis() < end)"
                      " for (int i = 0; i < 10000; i++) s += Integer.toString(i).hashCode();"
                      " System.out.println(s); } }")
        run([os.path.join(jdk(version), "bin", "java"),
             f"-XX:StartFlightRecording=filename={path}", source], code=0)
        wanted = [v for _, v in events(version, path, "jdk.ExecutionSample")]
        lines = collapsed(path)
        expect(len(wanted) > 10, f"the JVM took only {len(wanted)} samples")
        expect_equal(total(lines), len(wanted), "samples")
        expect(any("Spin.main" in line.frames for line in lines), "no Spin.main")


@test
def reads_a_recording_of_the_jdk():
    """What another producer wrote, whole and cut off."""
    path = temp_path("jdk.jfr")
    flag = f"-XX:StartFlightRecording=filename={path},settings=profile"
    run([os.path.join(jdk(17), "bin", "java"), flag, "-cp", WORKLOADS, "Shares", "3"], code=0)
    lines = collapsed(path)
    expect(total(lines) > 50, f"only {total(lines)} samples")
    expect(in_order(lines[0].frames, "Shares.main"), f"frames {lines[0].frames}")
    expect(share(lines, "Shares.loop") > 0.9, "the hot method is missing")
    expect_match(r"java-\d+ Sha.*JVM 17\.[^ ]*\)$", hostprof("report", path).out)
    with open(path, "rb") as file:
        data = file.read()
    cut = temp_path("cut.jfr")
    with open(cut, "wb") as file:
        file.write(data[:len(data) // 2])
    expect_in("ends in the middle", hostprof("report", cut).err)


main()
