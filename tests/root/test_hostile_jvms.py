#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an ordinary user's JVM has hostprof read of it: tables that lead anywhere, a libjvm.so that changes, a process that stops all the time."""
import random
import struct

from under_attack import *


def public_jvm(seconds, home=None, user=ATTACKER):
    return java_as(user, home or jdk(17), "Chain", seconds, flags=["-XX:+UseSerialGC"])


def scramble(pid, dice):
    """Exchange offsets of the JVM's structures, so that each leads into another; some lead to themselves."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        path = next(row.split()[-1] for row in file if row.rstrip().endswith("/libjvm.so"))
    start, _, offset = mapped_bytes(pid, "/libjvm.so")[0]
    symbols = {row.split()[2].split("@")[0]: int(row.split()[0], 16)
               for row in run(["nm", "-D", path], code=0).out.splitlines() if len(row.split()) == 3}
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        def number(at):
            memory.seek(at)
            return struct.unpack("<Q", memory.read(8))[0]

        def variable(name):
            return number(start - offset + symbols[name])

        at, stride = variable("gHotSpotVMStructs"), variable("gHotSpotVMStructEntryArrayStride")
        type_at, offset_at = (variable(f"gHotSpotVMStructEntry{what}Offset") for what in ("TypeName", "Offset"))
        places = []
        while number(at + type_at):
            places.append(at + offset_at)
            at += stride
        values = [number(place) for place in places]
        dice.shuffle(values)
        for place, value in zip(places, values):
            memory.seek(place)
            memory.write(struct.pack("<Q", 0 if dice.random() < 0.2 else value))


@test
def jvms_whose_structures_lead_anywhere():
    """Four JVMs, each with other offsets; the methods' tables lead in circles."""
    need_root()
    jvms = [public_jvm(60) for _ in range(4)]
    for n, jvm in enumerate(jvms):
        scramble(jvm.pid, random.Random(n))
    with attack("--agent=never", victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(*jvms)
        it.record(seconds=5)
    it.expect_unharmed()
    # Their code has no names any more, but no wrong ones: what was read made no sense.
    told = [detail for name, detail in counters(it) if name == "jvm.not-read"]
    print(f"# {told}", flush=True)
    for jvm in jvms:
        frames = it.frames_of(jvm.pid)
        expect("[anon]" in frames, f"a liar is not seen by its frames: {sorted(frames)}")
        expect(any(detail.startswith(f"pid {jvm.pid}: ") for detail in told), f"process {jvm.pid} is not named: {told}")


def own_jdk(user):
    """A JDK 17 whose libjvm.so this user may write."""
    home, whole = public_dir(user), jdk(17)
    for part in ("bin", "lib", "lib/server"):
        os.makedirs(os.path.join(home, part), exist_ok=True)
        os.chown(os.path.join(home, part), user, user)
    for path in glob.glob(os.path.join(whole, "lib", "*")) + [os.path.join(whole, "conf")]:
        if os.path.basename(path) != "server":
            os.symlink(path, os.path.join(home, os.path.relpath(path, whole)))
    for path in [os.path.join(whole, "bin", "java"), *glob.glob(os.path.join(whole, "lib", "server", "*"))]:
        public_copy(path, os.path.dirname(os.path.join(home, os.path.relpath(path, whole))), user=user)
    return home


def symbol_tables(path):
    """(offset, size) of .symtab, .dynsym and their names, .eh_frame_hdr and .eh_frame: nobody needs them once it runs but who unwinds."""
    with open(path, "rb") as file:
        header = file.read(64)
        at, = struct.unpack_from("<Q", header, 40)
        size, count = struct.unpack_from("<HH", header, 58)
        file.seek(at)
        rows = [struct.unpack_from("<IIQQQQ", file.read(size)) for _ in range(count)]
    return [(row[4], row[5]) for row in rows if row[1] in (2, 3, 11) and row[5]]


def replace_library(ready, directory):
    """Write over its symbols in place, and put them back; let other files have its name for a moment: a short one, one of garbage, a pipe."""
    path, other = os.path.join(directory, "libjvm.so"), os.path.join(directory, "other")
    with open(path, "rb") as file:
        whole = file.read()
    tables = symbol_tables(path)
    fd = os.open(path, os.O_RDWR)
    ready()
    while True:
        for offset, size in tables:
            size = min(size, 1 << 20)
            os.pwrite(fd, random.randbytes(size), offset)
            time.sleep(random.random() * 0.005)
            os.pwrite(fd, whole[offset:offset + size], offset)
        for content in (whole[:5000], whole[:1 << 20] + random.randbytes(1 << 20), None):
            if content is None:
                os.mkfifo(other)
            else:
                with open(other, "wb") as file:
                    file.write(content)
            os.link(path, path + ".kept")
            os.rename(other, path)
            time.sleep(random.random() * 0.005)
            os.rename(path + ".kept", path)


@test
@slow
def a_libjvm_that_is_replaced_all_the_time():
    """Of an attacker's JVM, from before hostprof starts until it has ended. Another user's JVM of the same build has its names."""
    need_root()
    home = own_jdk(ATTACKER)
    directory = os.path.join(home, "lib", "server")
    liar = public_jvm(60, home=home)
    expect(mapped_bytes(liar.pid, f"{directory}/libjvm.so"), "it runs another libjvm")
    honest = public_jvm(60, user=VICTIM)
    with attack(victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(liar, Forked(replace_library, directory).wait_ready())
        it.record(seconds=5)
    expect(liar.running() and honest.running(), "the JVMs are there yet")
    it.expect_unharmed()
    lines = of_pid(it.lines, honest.pid)
    burning = [line for line in lines if any(frame.startswith("Chain.third") for frame in line.frames)]
    bad = [line for line in lines if any(frame == "[anon]" or frame.startswith("[unwind:") for frame in line.frames)]
    print(f"# {total(lines)} samples of the honest JVM, {total(burning)} below Chain.third, {total(bad)} bad; "
          f"{total(of_pid(it.lines, liar.pid))} of the liar; {it.stats['readers']}", flush=True)
    expect(total(burning) > 150, "names of the honest JVM are missing")
    expect(total(bad) <= gates.most_bad(total(lines)), f"of the honest JVM: {bad[:3]}")


def halt(ready, pid):
    ready()
    while True:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(random.random() * 0.02)
        os.kill(pid, signal.SIGCONT)
        time.sleep(random.random() * 0.002)


@test
@slow
def a_jvm_that_stops_all_the_time():
    """It is attached to meanwhile: it may answer, or not; nobody waits for it."""
    need_root()
    jvm = public_jvm(60)
    with attack("--agent=always", victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(Forked(halt, jvm.pid).wait_ready(), jvm)
        it.record(seconds=5)
    it.expect_unharmed()
    refused = [detail for name, detail in counters(it) if name == "jvm.no-agent" and f"pid {jvm.pid}" in detail]
    print(f"# attached: {not refused}; {refused}")


main(lanes=2)
