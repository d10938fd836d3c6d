#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocations of JVMs without an agent, seen at HotSpot's AllocTracer, against what the program counted."""
from hp import *

# Of the truth, and so many standard deviations of a sum of samples.
SHARE_OFF, SIGMAS = 0.10, 4

# (version, threads, megabytes of each, flags). JDK 8 of Debian has its symbols in another package.
CASES = [(17, 2, 3000, ["-Xmx64m", "-XX:+UseSerialGC"]),
         (17, 3, 3000, ["-Xmx96m", "-XX:+UseG1GC"]),
         (25, 2, 3000, ["-Xmx64m", "-XX:+UseParallelGC"])]


def mixed(version, threads, megabytes, flags):
    """{class: (size, count)} of the program, and of the recording the lines with bytes and with samples."""
    jvm = java(version, "AllocMix", threads, megabytes, flags=flags, stdin=subprocess.PIPE)
    recorder = Recorder("-e", "alloc=4k", "--agent=never", "-p", jvm.pid)
    time.sleep(1)  # the probes are opened
    jvm.go()
    jvm.wait_text("done", timeout=120)
    truth = {name: (int(size), int(count))
             for name, size, count in re.findall(r"^(\S+) (\d+) (\d+)$", jvm.text, re.MULTILINE)}
    path = recorder.end()
    return truth, by_class(collapsed(path, "--total")), by_class(collapsed(path))


def by_class(lines):
    sums = collections.Counter()
    for line in lines:
        sums[plain(line.frames[-1])] += line.count
    return sums


def check(version, threads, megabytes, flags):
    truth, weights, samples = mixed(version, threads, megabytes, flags)
    expect_equal(len(truth), 6, "classes of the program")
    for name, (size, count) in truth.items():
        true, seen = size * count, samples[name]
        expect(seen >= 200, f"{name}: {seen} samples")
        off = weights[name] / true - 1
        print(f"#   {version} {flags[-1]} {name}: {off:+.2%} of {true / 1e6:.0f} MB, {seen} samples")
        expect(abs(off) <= SHARE_OFF + SIGMAS / seen ** 0.5, f"{name}: {off:+.1%}, {seen} samples")


def stripped_jdk(version):
    """A JDK whose libjvm has no symbols; what is not that libjvm or the launcher is linked to."""
    home, copy = jdk(version), os.path.join(temp_dir(), "stripped")
    subprocess.run(["cp", "-rs", os.path.realpath(home), copy], check=True)
    for name in ("bin/java", "lib/libjli.so", "lib/server/libjvm.so"):
        path = os.path.join(copy, name)
        real = os.path.realpath(path)
        os.unlink(path)
        subprocess.run(["strip", "-o", path, real] if name.endswith("libjvm.so") else
                       ["cp", real, path], check=True)
    # A build id that no debug file has.
    with open(os.path.join(copy, "lib/server/libjvm.so"), "r+b") as lib:
        at = lib.read(65536).index(b"GNU\0") + 4
        lib.seek(at)
        lib.write(b"\xab\xcd")
    return copy


@test
def without_symbols():
    """A libjvm without symbols: the message names the package and the build id, once; and nothing was seen."""
    jvm = java(stripped_jdk(17), "AllocMix", 1, 100, stdin=subprocess.PIPE)
    done = hostprof("record", "-e", "alloc", "--agent=never", "-d", 1, "-p", jvm.pid, "-o", temp_path("out.jfr"))
    jvm.go()
    told = [line for line in done.err.splitlines() if "allocations" in line]
    expect_equal(len(told), 2, f"lines about allocations in {done.err}")
    expect(re.search(rf"JVM {jvm.pid}: .*/libjvm.so .*no symbols.*openjdk-17-dbg\), build id abcd[0-9a-f]+$", told[0]), told[0])
    expect("no allocations were seen" in told[1], told[1])


@test
def bytes_of_mixed_sizes():
    """24 bytes to 2 MB in random order in several threads: each class has its bytes."""
    for case in CASES:
        check(*case)


main(lanes=2)
