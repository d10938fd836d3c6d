#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of an ordinary user that do what no honest one does, beside victims whose stacks must stay whole."""
import struct

from under_attack import *

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MAP_SHARED, MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS = 1, 2, 16, 32
PAGE = 4096
SPIN = b"\xeb\xfe"  # jmp to itself
CODEMAP = "hostprof-codemap"  # jvmagent/codemap.h

libc.mmap.restype = ctypes.c_long
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def attacked(*bodies, args=(), seconds=4, end="deadline", options=()):
    """A recording beside these; returns it, judged."""
    with attack(*options, victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(*(Forked(body, *args).wait_ready() for body in bodies))
        it.record(seconds=seconds, end=end)
    it.expect_unharmed()
    return it


def map_file(fd, pages=1, offset=0, prot=PROT_READ | PROT_EXEC):
    return call(libc.mmap, None, pages * PAGE, prot, MAP_PRIVATE, fd, offset)


def run_at(address):
    """Execute what is there in a thread, which never comes back."""
    code = ctypes.CFUNCTYPE(None)(address)
    threading.Thread(target=code, daemon=True).start()


def memfd(name, data):
    fd = os.memfd_create(name)
    os.write(fd, data)
    return fd


def elf(segments=b"", count=None, sections_at=0, section_count=0, offset=64, size=4):
    """An ELF header, program headers, and a page of code behind them."""
    code = struct.pack("<IIQQQQQQ", 1, 5, PAGE, PAGE, PAGE, PAGE, PAGE, PAGE)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, PAGE, offset, sections_at, 0, 64, 56,
        1 + len(segments) // 56 if count is None else count, 64, section_count, 0)
    return (header + code + segments).ljust(PAGE, b"\0") + SPIN.ljust(PAGE * (size - 1), b"\xc3")


# --- names that change -------------------------------------------------------------------------


def rename(ready):
    ready()
    while True:
        for n in range(1000):
            libc.prctl(15, f"\x1b[2J;{n};\n\"".encode())  # PR_SET_NAME
        time.sleep(0.001)


@test
def a_name_that_changes_all_the_time():
    it = attacked(rename)
    expect(not any("\x1b" in frame for line in it.lines for frame in [line.process, *line.frames]),
           "a control character reached the output")


def replace_itself(ready, directory):
    """The same pid runs another program each time."""
    ready()
    names = [os.path.join(directory, name) for name in ("uw-chain", "uw-calling")]
    while True:
        pid = os.fork()
        if pid == 0:
            script = f'n=$1; test $n -gt 0 || exit 0; {names[0]} 0.001 >/dev/null; exec "$0" -c "$2" "$0" $((n - 1)) "$2"'
            os.execv("/bin/sh", ["/bin/sh", "-c", script, "/bin/sh", "60", script])
        os.waitpid(pid, 0)


@test
def one_pid_and_a_program_after_the_other():
    directory = public_dir()
    for name in ("uw-chain", "uw-calling", "libuw-tiny.so"):
        public_copy(os.path.join(UNWIND, name), directory)
    attacked(replace_itself, args=(directory,))


def huge_arguments(ready):
    ready()
    while True:
        pid = os.fork()
        if pid == 0:
            os.execve("/bin/sh", ["libjvm.so\n\x1b" * 10000, "-c", ":"] + ["-Dx=" + "y" * 100000] * 10,
                      {"A": "b" * 100000})
        os.waitpid(pid, 0)


@test
def arguments_of_a_megabyte():
    attacked(huge_arguments)


# --- many ------------------------------------------------------------------------------------


def many_threads(ready):
    threading.stack_size(64 << 10)
    with contextlib.suppress(RuntimeError):
        for _ in range(3000):
            threading.Thread(target=forever, daemon=True).start()
    ready()
    while True:
        one = threading.Thread(target=int)
        one.start()
        one.join()


@test
def thousands_of_threads():
    attacked(many_threads)


def many_children(ready):
    ready()
    while True:
        pids = []
        for _ in range(50):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            pids.append(pid)
        for pid in pids:
            os.waitpid(pid, 0)


@test
def pids_that_are_used_up():
    attacked(many_children)


# --- files -----------------------------------------------------------------------------------


def spin_in(ready, data, directory):
    """Run code of a file of this content, by each of the ways of having a file."""
    path = os.path.join(directory, "odd.so")
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, data)
    address = map_file(fd, offset=PAGE)
    run_at(address)
    run_at(map_file(memfd("odd", data), offset=PAGE))
    os.unlink(path)
    ready()
    while True:  # and new mappings of it, looked at each time
        libc.munmap(map_file(fd, offset=PAGE), PAGE)
        time.sleep(0.02)


def load(kind, at, size, flags=5, address=None):
    return struct.pack("<IIQQQQQQ", kind, flags, at, at if address is None else address, at, size, size, PAGE)


ODD_FILES = {
    "program headers that are each other": elf(load(6, 64, 1 << 40) * 60, offset=64),
    "program headers behind the end": elf(count=65535, offset=1 << 62),
    "a thousand segments over each other": elf(b"".join(load(1, n, PAGE * 3 - n) for n in range(60))),
    "an exception header that is its own table": elf(load(0x6474e550, 0, PAGE)),
    "notes that never end": elf(load(4, 0, PAGE) * 60),
    "sections that are program headers": elf(sections_at=64, section_count=60000),
    "a segment that wraps": elf(load(1, PAGE, (1 << 64) - 1, address=(1 << 64) - PAGE)),
}


@test
def odd_files():
    need_root()
    with attack(victims={"uw-chain": (), "uw-calling": ()}) as it:
        for data in ODD_FILES.values():
            it.begin(Forked(spin_in, data, public_dir(ATTACKER)).wait_ready())
        it.record(seconds=8)
    it.expect_unharmed()


def truncate(ready, directory):
    """A file that is short, long, and short again, while its code runs and while it is read."""
    path = os.path.join(directory, "short.so")
    data = elf(size=64)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, data)
    ready()
    while True:
        os.pwrite(fd, data, 0)
        libc.munmap(map_file(fd, 64), 64 * PAGE)
        os.ftruncate(fd, 100)
        time.sleep(0.001)


@test
def a_file_that_is_cut_while_it_is_read():
    attacked(truncate, truncate, args=(public_dir(ATTACKER),))


def sparse(ready, directory):
    path = os.path.join(directory, "sparse.so")
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, elf(load(1, PAGE * 4, 1 << 40) + load(0x6474e550, 1 << 39, 1 << 30) + load(4, 1 << 38, 1 << 19),
                     sections_at=1 << 40, section_count=60000))
    os.ftruncate(fd, 1 << 42)
    run_at(map_file(fd, offset=PAGE))
    ready()
    forever()


@test
def a_file_of_four_terabytes():
    attacked(sparse, args=(public_dir(ATTACKER),))


def links_in_a_circle(ready, directory):
    """Mapped, then its path leads round and round."""
    path = os.path.join(directory, "loop.so")
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, elf())
    run_at(map_file(fd, offset=PAGE))
    os.unlink(path)
    os.symlink("other.so", path)
    os.symlink("loop.so", os.path.join(directory, "other.so"))
    ready()
    while True:
        libc.munmap(map_file(fd, offset=PAGE), PAGE)
        time.sleep(0.02)


@test
def links_that_lead_in_a_circle():
    attacked(links_in_a_circle, args=(public_dir(ATTACKER),))


# --- mappings ----------------------------------------------------------------------------------


def pretend(ready, directory):
    """Files with the names that mean something: of HotSpot, of the kernel's own mappings, with line ends."""
    names = ["libjvm.so", "[vdso]", "[stack]", "a\nb libjvm.so", "x (deleted)", "\\012", "%s%n", "[unwind: lies]"]
    for name in names:
        fd = os.open(os.path.join(directory, name), os.O_RDWR | os.O_CREAT, 0o755)
        os.write(fd, elf())
        run_at(map_file(fd, offset=PAGE))
        os.close(fd)
    ready()
    forever()


@test
def mappings_with_names_of_others():
    it = attacked(pretend, args=(public_dir(ATTACKER),), options=("--agent=auto",))
    expect(total(of_pid(it.lines, it.attackers[0].pid)) > 0, "the attacker was not seen")


def come_and_go(ready, directory):
    """Code that is mapped and unmapped as fast as may be, and the thread in it is never where it was."""
    fd = os.open(os.path.join(directory, "here.so"), os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, elf(size=8))
    run_at(map_file(fd, offset=PAGE))
    at = map_file(fd, 8)
    ready()
    while True:
        call(libc.mmap, at, PAGE * 4, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0)
        call(libc.mmap, at, PAGE * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0)


@test
def mappings_that_come_and_go():
    attacked(come_and_go, args=(public_dir(ATTACKER),))


@test
def sigint_under_attack():
    need_root()
    with attack(victims={"uw-chain": (), "uw-calling": ()}) as it:
        it.begin(Forked(come_and_go, public_dir(ATTACKER)).wait_ready(), Forked(many_children).wait_ready(),
                 Forked(truncate, public_dir(ATTACKER)).wait_ready())
        it.record(seconds=5, end="sigint")
    it.expect_unharmed()


# --- the agent's memory ------------------------------------------------------------------------


def fake_code_map(ready, directory, name):
    """A memfd as the agent has one, behind a mapping named libjvm.so; it is cut while it is mapped."""
    path = os.path.join(directory, "libjvm.so")
    lib = os.open(path, os.O_RDWR | os.O_CREAT, 0o755)
    os.write(lib, elf())
    run_at(map_file(lib, offset=PAGE))
    fd = os.memfd_create(name, 2)  # MFD_ALLOW_SEALING
    ready()
    while True:
        os.ftruncate(fd, 8 << 20)
        os.pwrite(fd, b"\xff" * PAGE, 0)
        time.sleep(0.002)
        os.ftruncate(fd, 0)


@test
def a_code_map_that_is_cut():
    attacked(fake_code_map, args=(public_dir(ATTACKER), CODEMAP), options=("--agent=auto", "-e", "cpu,alloc"))


main()
