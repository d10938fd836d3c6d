#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs first.
"""Nobody's file, memory or name speaks for another user's process: each way that was found to do it."""
import struct

from under_attack import *

CHAIN = os.path.join(UNWIND, "uw-chain")


def section(path, name):
    """(offset in the file, bytes) of a section."""
    for row in run(["readelf", "-SW", path], code=0).out.splitlines():
        parts = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+(\w+)\s+(\w+)\s+(\w+)", row)
        if parts and parts.group(1) == name:
            return int(parts.group(3), 16), int(parts.group(4), 16)
    raise Failed(f"{path} has no {name}")


def overwrite(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


# --- unwind rows ------------------------------------------------------------------------------

# DW_CFA_def_cfa of %rsp in a CIE: the CFA at a function's first instruction.
TRUE_CFA, WRONG_CFA = bytes([0x0c, 7, 8]), bytes([0x0c, 7, 40])


def spoil_rows(path):
    """Call frame information that leads nowhere. Without any the code itself would be read."""
    offset, size = section(path, ".eh_frame")
    with open(path, "rb") as file:
        file.seek(offset)
        rows = file.read(size)
    expect_in(TRUE_CFA, rows, ".eh_frame")
    overwrite(path, offset, rows.replace(TRUE_CFA, WRONG_CFA))


def expect_cut(it, pid):
    """What was done to the program of PID works: its stacks end where they should not."""
    lines = [line for line in of_pid(it.lines, pid) if "chain_three" in line.frames]
    expect(lines, "it did not run")
    whole = sum(line.count for line in lines if "chain_one" in line.frames)
    expect(whole < 0.05 * total(lines), f"the attack was none: {whole} of {total(lines)} stacks are whole")


@test
def a_copy_with_other_call_frame_information():
    """Its build id, size and first page are those of the victim's program."""
    need_root()
    with attack(victims={"uw-chain": ()}) as it:
        copy = public_copy(CHAIN, public_dir(ATTACKER), user=ATTACKER)
        spoil_rows(copy)
        it.begin(start_as(ATTACKER, [copy, 30]))
        it.start(seconds=7)
        time.sleep(1)
        it.run_victims(4)
        it.running["uw-chain"].finish(60)
        it.finish(7)
    it.expect_unharmed()
    expect_cut(it, it.attackers[0].pid)


@test
def a_program_that_is_written_anew():
    """The same inode, size and build id, and other frames: who runs it then has its new ones."""
    need_root()
    with attack(victims={"uw-chain": ()}) as it:
        program = it.programs["uw-chain"]
        good = open(program, "rb").read()
        spoil_rows(program)
        broken = start_as(VICTIM, [program, 2])
        it.start(seconds=8)
        broken.finish(60)
        overwrite(program, 0, good)
        it.run_victims(3)
        it.running["uw-chain"].finish(60)
        it.finish(8)
    it.expect_unharmed()
    expect_cut(it, broken.pid)


COPIES = 6


def record_copies(owners):
    """A recording of these alone: how many files others run counts for nothing."""
    directory = public_dir()
    copies = [public_copy(CHAIN, directory, f"uw-chain.{n}", owner) for n, owner in enumerate(owners)]
    running = [start_as(VICTIM, [copy, 6]) for copy in copies]
    stats = temp_path("stats.json")
    argv = [HOSTPROF, "record", "-F", FREQUENCY, "-p", ",".join(str(process.pid) for process in running), "-d", 2,
            "-o", temp_path("x.jfr"), "--stats", stats]
    return Process(argv, stderr=subprocess.DEVNULL), running, stats


def files_of(recorder, running, stats):
    """How many files rows were made of."""
    recorder.finish(30)
    stats = read_json(stats)
    expect_equal({row["pid"] for row in stats["processes"]}, {process.pid for process in running}, "processes that were sampled")
    for process in running:
        process.stop()
    return next(row["value"] for row in stats["counters"] if row["name"] == "unwind.files")


@test
def copies_of_one_owner_share_rows():
    """In containers the same file lies many times: what is alike to the byte is made once, but for another's."""
    need_root()
    recordings = [record_copies(owners) for owners in ([0] * COPIES, range(61000, 61000 + COPIES))]
    one, many = (files_of(*recording) for recording in recordings)
    print(f"# {COPIES} copies, of one owner: {one} files, of {COPIES} owners: {many}", flush=True)
    expect_equal(many - one, COPIES - 1, f"copies of one owner {one} files, of {COPIES} owners {many}")


# --- names of files and symbols ---------------------------------------------------------------


def evil_plugin(directory):
    """The victims' library with another name for its function."""
    path = os.path.join(directory, "libuw-plugin.so")
    run(["objcopy", "--redefine-sym", "plugin_burn=evil_burn", "--redefine-sym", "plugin_two=evil_two",
         os.path.join(UNWIND, "libuw-plugin.so"), path], code=0)
    return path


PROT_READ, PROT_EXEC, MAP_PRIVATE, MAP_FIXED = 1, 4, 2, 16
libc.mmap.restype = ctypes.c_long
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def take_its_place(ready, real, fake, pages):
    """Map the real file, and in its place at once the other, which has its name here."""
    real_fd = os.open(real, os.O_RDONLY)
    fake_fd = os.open(fake, os.O_RDONLY)
    call(libc.mount, os.fsencode(fake), os.fsencode(real), None, MS_BIND, None)
    fake_fd = os.open(real, os.O_RDONLY)
    at = libc.mmap(None, pages * 4096, PROT_READ, MAP_PRIVATE, real_fd, 0)
    ready()
    while True:
        # What hostprof hears of the first it follows when the second is there.
        for fd in (real_fd, fake_fd):
            libc.mmap(at, pages * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0)
        time.sleep(0.05)


@test
def another_file_in_the_place_of_a_library():
    """In a mount namespace of its own it has the library's name, and for a moment the library's place."""
    need_root()
    need_user_namespaces()
    with attack(victims={"uw-linked": ()}) as it:
        fake = evil_plugin(public_dir(ATTACKER))
        os.chmod(fake, 0o755)
        real = os.path.join(it.directory, "libuw-plugin.so")
        it.begin(Forked(take_its_place, real, fake, 4, unshare=True).wait_ready())
        it.start(seconds=7)
        time.sleep(1)
        it.run_victims(4)
        it.running["uw-linked"].finish(60)
        it.finish(7)
    it.expect_unharmed()
    names = it.frames_of(it.running["uw-linked"].pid)
    expect(not any("evil" in name for name in names), f"names of the attacker's file: {names}")


def name_it(ready, real, name, pages):
    """Map a library under another name."""
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))
    call(libc.mount, os.fsencode(real), os.fsencode(name), None, MS_BIND, None)
    fd = os.open(name, os.O_RDONLY)
    call(libc.mmap, None, pages * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0)
    ready()
    while True:
        call(libc.mmap, None, pages * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0)
        time.sleep(0.05)


@test
def another_name_of_a_library():
    need_root()
    need_user_namespaces()
    with attack(victims={"uw-linked": ()}) as it:
        real = os.path.join(it.directory, "libuw-plugin.so")
        name = os.path.join(public_dir(ATTACKER), "evil.so")
        it.begin(Forked(name_it, real, name, 4, unshare=True).wait_ready())
        it.start(seconds=7)
        time.sleep(1)
        it.run_victims(4)
        it.running["uw-linked"].finish(60)
        it.finish(7)
    it.expect_unharmed()
    lines = of_pid(collapsed(it.path, "--libraries"), it.running["uw-linked"].pid)
    text = ";".join(frame for line in lines for frame in line.frames)
    expect_not_in("evil", text, "files of the victim's frames")
    expect_in("libuw-plugin.so", text, "files of the victim's frames")


def show_debug_file(ready, debug_directory, library, pages):
    """Own debug files for the whole host's libraries, in a mount namespace of its own."""
    call(libc.mount, os.fsencode(debug_directory), b"/usr/lib/debug", None, MS_BIND | MS_REC, None)
    fd = os.open(library, os.O_RDONLY)
    ready()
    while True:
        call(libc.mmap, None, pages * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0)
        time.sleep(0.05)


@test
def debug_files_of_a_mount_namespace():
    """A stripped library whose debug file only the attacker has: it is his word."""
    need_root()
    need_user_namespaces()
    if not os.path.isdir("/usr/lib/debug"):
        skip("no /usr/lib/debug to be bound over")
    with attack(victims={"uw-linked": ()}) as it:
        real = os.path.join(it.directory, "libuw-plugin.so")
        # A build id of its own, so that the host has no debug file for it.
        evil = evil_plugin(public_dir())
        directory = public_dir(ATTACKER)
        number = next(row.split()[-1] for row in run(["readelf", "-n", real]).out.splitlines() if "Build ID" in row)
        where = os.path.join(directory, ".build-id", number[:2])
        os.makedirs(where)
        run(["objcopy", "--only-keep-debug", evil, f"{where}/{number[2:]}.debug"], code=0)
        run(["chown", "-R", str(ATTACKER), directory], code=0)
        run(["strip", real], code=0)
        it.begin(Forked(show_debug_file, directory, real, 4, unshare=True).wait_ready())
        it.start(seconds=7)
        time.sleep(1)
        it.run_victims(4)
        it.running["uw-linked"].finish(60)
        it.finish(7)
    names = it.frames_of(it.running["uw-linked"].pid)
    expect(not any("evil" in name for name in names), f"names of the attacker's debug file: {names}")
    expect(total(of_pid(it.lines, it.running["uw-linked"].pid)) > 150, "too few samples")


@test
def a_perf_map_of_another_user():
    """He wrote it for the pid of a program that makes code, before that could."""
    need_root()
    program = public_copy(os.path.join(UNWIND, "uw-jitted"), public_dir())
    with attack(victims={}) as it:
        victim = start_as(VICTIM, [program, 7])
        path = f"/tmp/perf-{victim.pid}.map"
        cleanup(lambda: os.path.lexists(path) and os.unlink(path))
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path), 30, "its perf map")
        os.unlink(path)
        with open(path, "w", encoding="ascii") as wrong:
            wrong.write("0 7fffffffffff evil\n")
        os.chown(path, ATTACKER, ATTACKER)
        it.start(seconds=5)
        time.sleep(3)
        it.finish(5)
    names = it.frames_of(victim.pid)
    expect(total(of_pid(it.lines, victim.pid)) > 150, "too few samples")
    expect(not any("evil" in name for name in names), f"names of the attacker's map: {names}")


# --- JVMs -------------------------------------------------------------------------------------


def symbols(path):
    rows = (row.split() for row in run(["nm", "-D", path], code=0).out.splitlines())
    return {row[2].split("@")[0]: int(row[0], 16) for row in rows if len(row) == 3}


class Tables:
    """The VMStructs of a live JVM."""

    def __init__(self, pid):
        self.memory = open(f"/proc/{pid}/mem", "r+b", buffering=0)
        cleanup(self.memory.close)
        start, _, offset = mapped_bytes(pid, "/libjvm.so")[0]
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            path = next(row.split()[-1] for row in file if row.rstrip().endswith("/libjvm.so"))
        self.symbols, self.bias = symbols(path), start - offset

    def read(self, address, size):
        self.memory.seek(address)
        return self.memory.read(size)

    def number(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def variable(self, name):
        return self.number(self.bias + self.symbols[name])

    def text(self, address):
        return self.read(address, 64).partition(b"\0")[0].decode() if address else ""

    def fields(self):
        """(type, field, address of its offset)"""
        at, stride = self.variable("gHotSpotVMStructs"), self.variable("gHotSpotVMStructEntryArrayStride")
        places = [self.variable(f"gHotSpotVMStructEntry{what}Offset")
                  for what in ("TypeName", "FieldName", "Offset")]
        while self.number(at + places[0]):
            yield (self.text(self.number(at + places[0])), self.text(self.number(at + places[1])), at + places[2])
            at += stride

    def swap(self, type_name, one, other):
        """Exchange the offsets of two fields."""
        found = {field: at for its_type, field, at in self.fields() if its_type == type_name}
        values = [self.read(found[field], 8) for field in (one, other)]
        for field, value in zip((other, one), values):
            self.memory.seek(found[field])
            self.memory.write(value)


def public_jvm(user, version, seconds):
    return java_as(user, jdk(version), "Chain", seconds, flags=["-XX:+UseSerialGC"])


@for_each_jdk(SETUP_JDKS)
def a_jvm_that_altered_its_vmstructs(version):
    """What it says of methods' names is what it says of its own."""
    liar = public_jvm(ATTACKER, version, 60)
    Tables(liar.pid).swap("ConstMethod", "_name_index", "_signature_index")
    with attack(victims={}) as it:
        it.begin(liar)
        it.start(seconds=12)
        time.sleep(1.5)
        honest = public_jvm(VICTIM, version, 5)
        honest.finish(60)
        it.finish(12)
    java = [frame for line in of_pid(it.lines, honest.pid) for frame in line.frames
            if re.search(r"Chain\.", frame)]
    wrong = [frame for frame in java if "(" in frame]
    names = it.frames_of(honest.pid)
    burning = [line for line in of_pid(it.lines, honest.pid)
               if any("Chain.third" in frame for frame in line.frames)]
    print(f"# {total(of_pid(it.lines, honest.pid))} samples of the honest JVM, {total(burning)} below Chain.third")
    expect(not wrong, f"wrongly named: {set(wrong)}")
    expect(total(burning) >= 150, f"only {total(burning)} stacks have Chain.third: {sorted(names)[:60]}")
    expect(not any("Chain.third" in frame for frame in it.frames_of(liar.pid)), "the attack was none")


main(lanes=2)
