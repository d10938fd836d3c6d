#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an ordinary user has hostprof read of him: names, maps of code, stacks, call frame information, symbols, a JVM's tables."""
import random
import struct

from hp_cgroup import enter, make_cgroup
from under_attack import *

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MAP_PRIVATE, MAP_ANONYMOUS = 2, 32
PAGE = 4096
SPIN = b"\xeb\xfe"  # jmp to itself

libc.mmap.restype = ctypes.c_long
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def attacked(*bodies, args=(), seconds=4, options=(), named=None):
    """A recording beside these; returns it, judged. NAMED: what each must be seen by, of (recording, attacker)."""
    # Two tests at once have half of the cpus each.
    with attack("-F", 997, *options, victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(*(Forked(body, *args).wait_ready() for body in bodies))
        it.record(seconds=seconds)
    it.expect_unharmed()
    for attacker in it.attackers:
        expect(total(of_pid(it.lines, attacker.pid)) > 0, "the attacker was not seen")
        if named:
            named(it, attacker)
    return it


def expect_counted(it, name, part):
    """A figure of that name whose detail has PART."""
    found = [detail for figure, detail in counters(it) if figure == name and part in detail]
    expect(found, f"no figure {name} names {part!r}: {sorted(counters(it))}")


def expect_unwalked(it, attacker):
    """The attacker's own stacks say why they end, and the figures of its process how many do."""
    expect(any("[unwind:" in frame for frame in it.frames_of(attacker.pid)), "its stacks say nothing")
    rows = [row for row in it.stats["processes"] if row["pid"] == attacker.pid]
    expect(sum(row["samples"] - row["complete"] for row in rows) > 0, f"the figures do not name it: {rows}")


def anonymous(size, prot=PROT_READ | PROT_WRITE | PROT_EXEC):
    return call(libc.mmap, None, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)


def run_at(address):
    """Execute what is there in a thread, which never comes back."""
    threading.Thread(target=ctypes.CFUNCTYPE(None)(address), daemon=True).start()


def forever_busy():
    while True:
        pass


# --- names -------------------------------------------------------------------------------------

MARKUP = "</script><script>pwned()</script><img src=x onerror=pwned()>"
LINE = "\nuw-chain;main;evil 123456\n"
TERMINAL = "\x1b]0;pwned\x07\x1b[2J\r\x9b31m"


def change_names(ready, directory):
    """Ten thousand names a second of a process and a thread of it, and files with names that end a line, a tag or a screen."""
    for n, name in enumerate([MARKUP.replace("/", "\u2215"), LINE, TERMINAL, "\u202egnp.exe", "\udcff\udcfe"]):
        with open(os.path.join(directory, f"{n}{name}"), "wb") as file:
            file.write(SPIN.ljust(PAGE, b"\0"))
        fd = os.open(file.name, os.O_RDONLY)
        run_at(call(libc.mmap, None, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0))
    names = [text[at:at + 15].encode("utf-8", "replace") for text in (MARKUP, LINE, TERMINAL) for at in range(0, len(text), 5)]

    def rename():
        while True:
            for name in names * 20:
                libc.prctl(15, name)  # PR_SET_NAME
            time.sleep(0.001)
    threading.Thread(target=rename, daemon=True).start()
    ready()
    rename()


def expect_inert(text, what, html=False):
    """Nothing of it does anything where it is shown."""
    for part in ("\x1b", "\x07", "\u202e", *([] if html else "\x9b")):
        expect_not_in(part, text, what)
    if not html:
        expect(not re.search(r"^uw-chain;main;evil", text, re.MULTILINE), f"a line of {what} is the attacker's")
    else:
        for part in ("<script>pwned", "<img src=x", "</script><script>"):
            expect_not_in(part, text, what)


@test
def names_that_are_markup_lines_and_control_characters():
    it = attacked(change_names, args=(public_dir(ATTACKER),))
    for form in ("collapsed", "txt", "html", "svg"):
        path = temp_path(f"out.{form}")
        for more in ((), ("--libraries",)):
            hostprof("report", it.path, "-f", form, "-o", path, *more)
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                expect_inert(file.read(), f"{form} {more}", form in ("html", "svg"))
    expect_inert(it.err, "messages")
    for row in collapsed(it.path):
        expect(row.count < 100000, "a count that the attacker wrote")


DEEPEST = "\u202e" + "c" * 221 + "<img src=x onerror=pwned()>\x1b[2J"


def below_deep_cgroups():
    """Names as long as they may be, one below the other, until a path has four kilobytes."""
    path = make_cgroup("hostprof-hostile")
    while len(os.fsencode(path)) + 256 < 4096 - 40:
        path = make_cgroup(DEEPEST, path)
    return path


def busy(ready):
    ready()
    forever_busy()


@test
@slow
def cgroups_with_the_longest_names():
    """What runs there is seen, is its own cgroup's in the recording, and a recording of that cgroup alone finds it."""
    need_root()
    deep = below_deep_cgroups()
    with attack("-F", 997, victims={"uw-chain": (), "uw-calling": ()}) as it:
        spinner = Forked(busy).wait_ready()
        enter(deep, spinner.pid)
        it.begin(spinner)
        it.record(seconds=4)
    it.expect_unharmed()
    expect(total(of_pid(it.lines, spinner.pid)) > 100, "the attacker was not seen")
    rows = [row for row in it.stats["processes"] if row["pid"] == spinner.pid]
    print(f"# a path of {len(os.fsencode(deep))} bytes: {[len(row.get('cgroup', '')) for row in rows]}", flush=True)
    expect(rows and all(row["cgroup"].count("/") >= 15 for row in rows), "the figures do not name its cgroup")
    for form in ("collapsed", "txt", "html", "svg"):
        path = temp_path(f"deep.{form}")
        hostprof("report", it.path, "-f", form, "-o", path)
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            expect_inert(file.read(), form, form in ("html", "svg"))
    alone = collapsed(record("-F", 499, "-d", 2, "--cgroup", deep))
    expect(total(of_pid(alone, spinner.pid)) > 100, "it was not seen by its cgroup")
    expect_equal(total(alone), total(of_pid(alone, spinner.pid)), "samples of others")


# --- maps of generated code ----------------------------------------------------------------------


def growing_perf_map(ready):
    """Sparse, of four gigabytes, with lines that do not end; more comes while it is read."""
    at = anonymous(PAGE)
    ctypes.memmove(at, SPIN, len(SPIN))
    path = f"/tmp/perf-{os.getpid()}.map"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    lines = b"".join(b"%x 1 f%x\n" % (at + n % PAGE, n) for n in range(50000))
    os.write(fd, b"%x 1000 %s" % (at, b"x" * (1 << 20)) + b"\n" + lines * 24)
    os.ftruncate(fd, 4 << 30)
    run_at(at)
    ready()
    while os.path.exists(path):
        os.pwrite(fd, lines, (4 << 30) + random.randrange(1 << 20))
        time.sleep(0.001)


@test
def a_perf_map_without_end():
    def named(it, attacker):
        expect_counted(it, "limits.perf-map-lines", f"pid {attacker.pid}")

    try:
        attacked(growing_perf_map, named=named)
    finally:
        for path in glob.glob("/tmp/perf-*.map"):
            if os.stat(path).st_uid == ATTACKER:
                os.unlink(path)


# --- stacks ------------------------------------------------------------------------------------


def spin_with(at, rsp, rbp):
    """mov rsp, …; mov rbp, …; spin: the code, put at AT."""
    code = b"\x48\xbc" + struct.pack("<Q", rsp & (1 << 64) - 1) + b"\x48\xbd" + struct.pack("<Q", rbp & (1 << 64) - 1) + SPIN
    ctypes.memmove(at, code, len(code))
    run_at(at)


def endless_frames(ready):
    """Eight megabytes of frame pointers that lead up, and a ring of two, with return addresses into code."""
    code = anonymous(PAGE * 4)
    size = 8 << 20
    stack = anonymous(size, PROT_READ | PROT_WRITE)
    words = bytearray(size)
    for n in range(0, size - 32, 16):
        struct.pack_into("<QQ", words, n, stack + n + 16, code + 64)
    ctypes.memmove(stack, bytes(words), size)
    spin_with(code, stack, stack)
    ring = anonymous(PAGE, PROT_READ | PROT_WRITE)
    ctypes.memmove(ring, struct.pack("<QQQQ", ring + 16, code + 64, ring, code + 64), 32)
    spin_with(code + PAGE, ring, ring)
    every_word = anonymous(size, PROT_READ | PROT_WRITE)  # each word may be a return address
    ctypes.memmove(every_word, struct.pack("<Q", code + 64) * (size // 8), size)
    spin_with(code + 2 * PAGE, every_word, every_word)
    ready()
    forever()


@test
def stacks_that_lead_on_for_ever():
    attacked(endless_frames, named=expect_unwalked)


def elsewhere(ready):
    """Stack pointers that point to nothing, to the kernel, to a file that is cut, to themselves."""
    code = anonymous(PAGE * 16)
    fd = os.memfd_create("stack")
    os.ftruncate(fd, 1 << 20)
    shared = call(libc.mmap, None, 1 << 20, PROT_READ | PROT_WRITE, 1, fd, 0)
    places = [0, 8, 0x7ffffffff000 - 8, 0xffffffff81000000, 0xffffffffff600000, 1 << 63, (1 << 64) - 8, shared + (1 << 19), code + 8]
    for n, place in enumerate(places):
        spin_with(code + n * PAGE, place, places[-1 - n])
    ready()
    while True:
        os.ftruncate(fd, 0)
        time.sleep(0.001)
        os.ftruncate(fd, 1 << 20)
        os.pwrite(fd, struct.pack("<Q", code) * 512, 1 << 19)
        time.sleep(0.001)


@test
@slow
def stack_pointers_that_point_elsewhere():
    attacked(elsewhere, named=expect_unwalked)


# --- files ---------------------------------------------------------------------------------------

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
NAMES = b"\0.shstrtab\0.text\0.eh_frame\0.symtab\0.strtab\0"
TEXT_PAGES = 64


def section(name, kind, offset, size, link=0, entry=0, flags=0):
    return struct.pack("<IIQQQQIIQQ", NAMES.index(name), kind, flags, offset if flags else 0, offset, size, link, 0, 8, entry)


def write_program(path, sections, pieces):
    """An ELF file with TEXT_PAGES of code from the second page on, each of which spins in its middle."""
    text = (b"\x90" * (PAGE // 2) + SPIN).ljust(PAGE, b"\x90") * TEXT_PAGES
    end = max([offset + len(data) for offset, data in pieces] + [PAGE * (1 + TEXT_PAGES)])
    table = (end + PAGE - 1) // PAGE * PAGE
    names_at = table + 64 * (len(sections) + 3)
    sections = [bytes(64), section(b".shstrtab", SHT_STRTAB, names_at, len(NAMES)),
                section(b".text", SHT_PROGBITS, PAGE, len(text), flags=6), *sections]
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, table, table, PAGE)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, PAGE, 64, table, 0, 64, 56, 1, 64, len(sections), 1)
    with open(path, "wb") as file:
        for offset, data in [(0, header + load), (PAGE, text), *pieces, (table, b"".join(sections)), (names_at, NAMES)]:
            file.seek(offset)
            file.write(data)
    return path


def spin_in_pages(path, pages):
    fd = os.open(path, os.O_RDONLY)
    at = call(libc.mmap, None, PAGE * TEXT_PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE)
    for page in pages:
        run_at(at + page * PAGE)


def uleb(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def entry(body):
    body += bytes(-len(body) % 4)
    return struct.pack("<I", len(body)) + body


AFTER_TEXT = PAGE * (1 + TEXT_PAGES)


def lying_cfi(ready, directory):
    """One entry for each byte of code, each over all of it; expressions of 64 KB; an entry that is its own head."""
    cie = entry(struct.pack("<IB", 0, 1) + b"zR\0" + b"\x01\x78\x10\x01\x1b" + b"\x0c\x07\x08\x90\x01")
    data = bytearray(cie)

    def fde(start, length, program, back=None):
        here = AFTER_TEXT + len(data)
        pointer = len(data) + 4 if back is None else back
        data.extend(entry(struct.pack("<Iii", pointer, start - (here + 8), length) + b"\0" + program))

    for page in range(0, 8):
        for n in range(PAGE // 2):
            fde(PAGE * (1 + page) + n, PAGE, b"\x0e" + uleb(n) + b"\x41" * 4)
    for page in range(8, 16):
        long = b"\x96" * 65000  # nop … of a DWARF expression
        fde(PAGE * (1 + page), PAGE, b"\x0f" + uleb(len(long)) + long)
    for page in range(16, 24):  # remember_state, and advance_loc, without end
        fde(PAGE * (1 + page), PAGE, b"\x0a\x41" * 100000)
    for page in range(24, 32):
        fde(PAGE * (1 + page), PAGE, b"\x0e\x10", back=0)  # it is its own head
    for page in range(32, 40):
        fde(PAGE * (1 + page), 0x7fffffff, b"\x0e\x10", back=0xfffffff0)
    path = write_program(os.path.join(directory, "cfi.so"), pieces=[(AFTER_TEXT, bytes(data))], sections=[
        section(b".eh_frame", SHT_PROGBITS, AFTER_TEXT, len(data), flags=2)])
    spin_in_pages(path, (1, 9, 17, 25, 33, 41))
    ready()
    forever()


@test
@slow
def call_frame_information_that_lies():
    attacked(lying_cfi, args=(public_dir(ATTACKER),), named=expect_unwalked)


def doubling(depth):
    """A mangled name that stands for 2^DEPTH characters."""
    return b"_Z1fISt4pairIiiE" + b"".join(b"S_IS%s_S%s_E" % ((b"%X" % n,) * 2) for n in range(depth)) + b"EvT_"


def evil_names(ready, directory):
    """100,000 symbols: names that double, names that nest, names of four kilobytes, names that share their bytes."""
    kinds = [doubling(30), doubling(34), b"_Z" + b"N" * 4000, b"_Z1f" + b"P" * 4000 + b"i", b"_ZN" + b"1a" * 2000 + b"E" + b"v",
             b"_R" + b"NvC1a" + b"B_" * 1000, b"_Z1f" + b"I" * 2000 + b"i" + b"E" * 2000 + b"v", b"_Z" + b"1fI1fI" * 600,
             b"_RINv" + b"Cs_1a" + b"1f" + b"TB2_" * 800 + b"E", b"x" * 4000, b"_ZGV" * 1000, b"\x1b[2J</script>"]
    strings = b"\0" + b"\0".join(kinds) + b"\0"
    rows, table = [struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)], []
    for n in range(100000):
        kind = kinds[n * len(kinds) * TEXT_PAGES // 100000 % len(kinds)]
        start = strings.index(b"\0" + kind + b"\0") + 1
        rows.append(struct.pack("<IBBHQQ", start + n % 2, 2, 0, 2, PAGE + n * TEXT_PAGES * PAGE // 100000, PAGE))
    table = b"".join(rows)
    path = write_program(os.path.join(directory, "names.so"),
                         pieces=[(AFTER_TEXT, table), (AFTER_TEXT + len(table), strings)], sections=[
        section(b".symtab", SHT_SYMTAB, AFTER_TEXT, len(table), link=4, entry=24),
        section(b".strtab", SHT_STRTAB, AFTER_TEXT + len(table), len(strings))])
    spin_in_pages(path, range(0, TEXT_PAGES, 13))
    ready()
    forever()


@test
@slow
def symbols_whose_names_never_end():
    attacked(evil_names, args=(public_dir(ATTACKER),))


main(lanes=2)
