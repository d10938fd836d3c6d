#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Listing the JVMs of the host."""
from idle_jvms import *


def rows():
    return {row["pid"]: row for row in json_of("list")}


@test
def twenty_jvms():
    need_root()
    homes = list(filter(None, map(find_jdk, JDKS))) or skip("no JDK")
    classes = temp_dir()
    jvms = {}
    with open(os.path.join(WORKLOADS, "Named00.class"), "rb") as file:
        code = file.read()
    for i in range(20):
        name = f"Named{i:02}"
        with open(os.path.join(classes, name + ".class"), "wb") as file:
            file.write(code.replace(b"Named00", name.encode()))
        jvm = start([os.path.join(homes[i % len(homes)], "bin/java"), "-Xmx24m", "-XX:+UseSerialGC",
                     "-cp", classes, name, 600])
        jvms[jvm.pid] = (name, homes[i % len(homes)], jvm)
    for _, _, jvm in jvms.values():
        jvm.wait_text("ready", timeout=90)
    began = time.monotonic()
    listed = rows()
    took = time.monotonic() - began
    for pid, (name, home, _) in jvms.items():
        expect(pid in listed, f"pid {pid} is not listed")
        expect_equal(listed[pid]["main_class"], name, f"main class of {pid}")
        expect_equal(listed[pid]["can_attach"], True, f"can_attach of {pid}")
        expect_equal(listed[pid]["lacks"], [], f"what {pid} lacks")
        if not os.path.exists(os.path.join(home, "release")):
            continue  # Debian's 8
        with open(os.path.join(home, "release"), encoding="utf-8") as file:
            version = re.search(r'^JAVA_VERSION="([^"]*)"', file.read(), re.MULTILINE).group(1)
        expect_in(version, listed[pid]["version"], f"version of {pid}")
    print(f"# 20 JVMs listed in {took * 1000:.0f} ms")
    expect_equal(list(listed), sorted(listed), "order of pids")


@test
def main_classes():
    need_root()
    home = jdk(17)
    place = temp_dir()
    jar = os.path.join(place, "my app.jar")
    run([os.path.join(home, "bin/jar"), "--create", "--file", jar, "--main-class", "Idle", "-C",
         WORKLOADS, "Idle.class"], code=0)
    arguments = os.path.join(place, "arguments")
    with open(arguments, "w", encoding="ascii") as file:
        file.write(f"-Xmx32m -cp {WORKLOADS} Idle\n")
    source = os.path.join(place, "Hello.java")
    with open(source, "w", encoding="ascii") as file:
        file.write("""public class Hello { public static void main(String[] a) throws Exception {
            System.out.println("ready"); Thread.sleep(60_000); } }""")
    cases = [
        (["-cp", WORKLOADS, "-Dx=y", "--add-modules", "java.base", "Idle", "60"], "Idle"),
        (["-jar", jar, "60"], "my app.jar"),
        ([f"@{arguments}", "60"], "Idle"),
        ([source], source),
    ]
    for args, wanted in cases:
        jvm = start([os.path.join(home, "bin/java"), *args]).wait_text("ready")
        expect_equal(status(jvm.pid)["main_class"], wanted, f"main class of java {args}")


@test
def a_library_that_was_replaced_on_disk():
    """After an upgrade the mapped file has no name any more."""
    need_root()
    home = os.path.join(temp_dir(), "jdk")
    shutil.copytree(os.path.realpath(jdk(17)), home, symlinks=True,
                    ignore=shutil.ignore_patterns("jmods", "src.zip", "man"))
    jvm = idle(home)
    os.unlink(os.path.join(home, "lib/server/libjvm.so"))
    row = rows()[jvm.pid]
    expect_match(r"^17\.", row["version"], "version")
    expect_equal(row["can_attach"], True, "can_attach")
    attach(jvm.pid)
    agent_is_there(jvm.pid)


# --- threads ----------------------------------------------------------------------------------------------------------

LONG_NAMES = {"a-thread-with-quite-a-long-name-1", "a-thread-with-quite-a-long-name-2", "ünïcöde-thread-ä",
              "日本語のスレッド名-😀", "short", "", "one-that-makes-garbage"}
RENAMED = {"renamed-by-others", "renamed-by-others-now-it-is-even", "renamed-by-others-now-it-is-odd"}
# The JVM's own that are Java's threads, JDK 8 to 28; and our agent's, which a test of the whole host may load meanwhile.
JVMS_OWN = re.compile(r"main|Reference Handler|Finalizer|Signal Dispatcher|Service Thread|C[12] CompilerThread\d+|"
                      r"Monitor Deflation Thread|Common-Cleaner|Sweeper thread|Notification Thread|"
                      r"process reaper.*|Attach Listener|hostprof agent|Surrogate Locker Thread.*|Cleaner-\d+|StringDedupThread")
COLLECTORS = {
    "serial": ["-XX:+UseSerialGC"],
    "g1": ["-XX:+UseG1GC"],
    "parallel, 8-byte references": ["-XX:+UseParallelGC", "-XX:-UseCompressedOops"],
    "parallel, zero-based": ["-XX:+UseParallelGC", "-Xmx8g", "-Xms48m"],
}


def threads_of(pid):
    return json_of("list", "--threads", pid)


def names_are_whole(version, flags):
    """While a collector moves them. Each name is one that a thread has, whoever else's memory it may be by now."""
    jvm = java(version, "NamedThreads", 600, flags=["-Xmx48m", *flags])
    seen = collections.Counter()
    for _ in range(15):
        names = [row["name"] for row in threads_of(jvm.pid) if "name" in row]
        strange = [name for name in names if name not in LONG_NAMES | RENAMED and not JVMS_OWN.fullmatch(name)]
        expect_equal(strange, [], "names of no thread")
        seen.update(names)
    expect(all(seen[name] >= 14 for name in LONG_NAMES), f"missing: {seen}")
    expect(sum(seen[name] for name in RENAMED) >= 14, f"the renamed one is missing: {seen}")
    expect_equal(seen["main"], 15, "main")


@for_each_jdk(JDKS)
def names_of_threads(version):
    for how, flags in COLLECTORS.items():
        print(f"# JDK {version}, {how}")
        names_are_whole(version, flags)
    if version in (25, 26):
        names_are_whole(version, ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"])


@for_each_jdk([version for version in JDKS if version >= 17])
def names_that_are_not_safe_to_read(version):
    """ZGC moves objects while Java runs: the kernel's names have to do."""
    jvm = java(version, "NamedThreads", 600, flags=["-Xmx64m", "-XX:+UseZGC"])
    done = hostprof("list", "--threads", jvm.pid)
    expect_in("moves objects", done.err)
    rows_of = [row.split() for row in done.out.splitlines()[1:]]
    expect(len(rows_of) > 8 and all(row[-1] == "-" for row in rows_of), done.out)
    expect(any("a-thread-with-q" in " ".join(row) or "a-threa..name-1" in " ".join(row) for row in rows_of), done.out)


@test
def threads_of_what_is_no_jvm():
    need_root()
    sleeper = start(["sleep", "60"])
    expect_in("HotSpot", hostprof("list", "--threads", sleeper.pid, code=1).err)
    expect_in("no", hostprof("list", "--threads", "4194303", code=1).err)


main()
