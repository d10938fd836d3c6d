#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""The layout that is read of a live JVM is true: held against a walk of its code heaps."""
from hp import *

JVM_CHECK = os.path.join(BUILD, "tools", "jvm_check")
SMALL = ("-XX:+UseSerialGC", "-Xmx64m")


def check(pid, *options):
    """What jvm_check says of a JVM; fails when it finds something wrong."""
    done = run([JVM_CHECK, *options, pid])
    expect(done.code == 0 and done.out.endswith("ok\n"), f"jvm_check: {done.out}{done.err}")
    return done.out


def number(name, text):
    return int(re.search(rf"\b{name} (\d+)", text).group(1))


@for_each_jdk(JDKS)
def layout(version):
    process = java(version, "Code", flags=SMALL, stdin=subprocess.PIPE)
    text = check(process.pid)
    expect_equal(number("release", text), version)
    expect(number("deopts", text) >= 10, text)
    # From 24 on enterSpecial is made at the start.
    expect_equal(number("provisional", text), 1 if 21 <= version < 24 else 0)
    process.go()
    process.wait_text("virtual")
    text = check(process.pid)
    expect_equal(number("provisional", text), 0)


@for_each_jdk(JDKS)
def layout_of_one_heap(version):
    process = java(version, "Code", stdin=subprocess.PIPE,
                   flags=(*SMALL, "-XX:ReservedCodeCacheSize=24m", "-XX:TieredStopAtLevel=1"))
    expect_equal(number("heaps", check(process.pid)), 1)


@for_each_jdk([version for version in JDKS if version >= 21])
def fields_of_stack_chunks(version):
    """The JVM's own word, by Unsafe.objectFieldOffset()."""
    for flags in ((), ("-XX:-UseCompressedOops",),
                  ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders")[:2 * (version >= 25)]):
        process = java(version, "Offsets", stdin=subprocess.PIPE,
                       flags=(*SMALL, *flags, "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"))
        told = dict(re.findall(r"^(\w+)=(\d+)$", process.text, re.MULTILINE))
        expect_equal(len(told), 6)
        chunks = re.search("^chunks .*", check(process.pid), re.MULTILINE).group()
        expect_equal({name: str(number(name, chunks)) for name in told}, told)


@for_each_jdk(JDKS)
def layout_of_a_starting_jvm(version):
    process = java(version, "Code", flags=SMALL, ready=None, stdin=subprocess.PIPE)
    check(process.pid, "--early")


main(lanes=3)
