# SPDX-License-Identifier: Apache-2.0
"""The judge of native stacks.

Every program of tests/workloads/unwind has here the exact list of its frames, root to leaf, as a
regular expression over the frames joined by ";". hostprof's own word on whether a stack is complete
is not asked. Frames are first brought into one form:

    lib:NAME  code of a system library; NAME is "?" when the library has no symbol there
    plt       a stub of a procedure linkage table
    NAME      a function of the program, without C++ arguments

What is above main() and above a thread's function is not taken from hostprof either: the program
uw-roots finds those addresses with glibc's backtrace().
"""
import bisect
import collections
import functools
import glob
import os
import re
import subprocess

from fde_table import function_at
from hp import WORKLOADS

UNWIND = os.path.join(WORKLOADS, "unwind")
MAIN = "_start;lib:__libc_start_main;lib:__libc_start_call_main;main"
THREAD = "lib:clone3;lib:start_thread"
LIBS = "(?:;plt|;lib:[^;]*)*"
# Before main, after it, and a thread's or a posix_spawn child's first steps: libraries all the way.
OUTSIDE = f"(?:_start|lib:clone3|lib:clone|lib:_start)(?!;lib:clone|;lib:_start){LIBS}"
PLUGIN = "(?:;plugin_run(?:;plugin_two(?:;plugin_burn)?)?)?"
HANDLER = "(?:;lib:__restore_rt(?:;handler(?:;handler_burn)?)?)?"
BRIEF = "(?:;brief_one(?:;brief_two)?)?"
# Any frame that has a name and is not the program's own.
GO_ELSE = r"(?:;(?!main\.|\[|runtime\.(?:goexit|mstart)(?:;|$))[^;]+)*"
RUST_ELSE = r"(?:;(?!rusty::|\[)[^;]+)*"
RUST_BEGIN = r"(?:;(?!rusty::(?:worker|outer|inner)|\[)[^;]+)*"

CHAIN = f"{MAIN}(?:;chain_one(?:;chain_two(?:;chain_three)?)?|{LIBS})"
STACKS = {
    "uw-chain": CHAIN,
    "uw-static": CHAIN,
    "uw-staticpie": CHAIN,
    "uw-stripped": CHAIN,
    "uw-throwing": f"{MAIN}(?:;catcher(?:;level_one(?:;level_two(?:;thrower|;guard::~guard)?)?)?)?"
                   f"{LIBS}",
    "uw-handled": f"{MAIN}(?:;work_sort{LIBS}(?:;compare)?|;work_copy{LIBS}|;work_strlen{LIBS}|"
                  f";work_leaf|{LIBS}){HANDLER}",
    "uw-recursing": f"{MAIN}(?:(?:;descend){{900}};bottom|(?:;descend){{1,900}}|{LIBS})",
    "uw-realigned": f"{MAIN}(?:;aligned_one(?:;aligned_two(?:;use|;plain(?:;aligned_leaf"
                    f"(?:;use)?)?)?)?|{LIBS})",
    "uw-loading": f"{MAIN}(?:;load_and_run(?:;plugin_run(?:;plugin_two(?:;plugin_burn)?)?)?)?{LIBS}",
    "uw-threads": f"{MAIN}(?:;make_threads)?{LIBS}|{THREAD}(?:;thread_long|;thread_short)"
                  f"(?:;thread_work|{LIBS})",
    "uw-spawning": f"{MAIN}(?:;child_one(?:;child_two)?|"
                   f";spawn_one(?:;spawn_by_vfork|;spawn_by_posix)?)?{LIBS}",
    "uw-bare": f"{MAIN}(?:;bare_one(?:;bare_two(?:;bare_small|;bare_three)?)?|{LIBS})",
    "uw-calling": f"{MAIN}(?:;call_all(?:;plt)?(?:;tiny_two)?(?:;plt)?(?:;tiny_one|{LIBS})|"
                  f";read_clock{LIBS}|{LIBS})",
    "uw-mapped": f"{MAIN}(?:;run_mapped{PLUGIN}|(?:;read_piece|;find_entry|;map_piece)?{LIBS})",
    "uw-jitted": f"{MAIN}(?:;run_jit(?:;jit_one(?:;jit_two(?:;jit_three(?:;back_in_c)?)?)?)?|{LIBS})",
    "uw-brief": f"{MAIN}(?:;make_children)?(?:(?:;make_child(?:;go_on_as)?)?{BRIEF}){LIBS}",
    "uw-linked": f"{MAIN}(?:;linked_one(?:;plt)?{PLUGIN})?{LIBS}",
    # The main thread's and the other goroutines'; and what the runtime does on its own stacks.
    "uw-go": r"runtime\.goexit;(?:runtime\.main;main\.main|main\.main\.gowrap\d+);"
             rf"main\.worker(?:;main\.outer(?:;main\.inner)?)?{GO_ELSE}|"
             rf"runtime\.goexit(?:;runtime\.main(?:;main\.main)?|;main\.main\.gowrap\d+)?{GO_ELSE}|"
             rf"(?:runtime\.(?:mstart|rt0_go|clone|mcall|morestack)|_rt0_amd64\w*){GO_ELSE}",
    "uw-rust": rf"(?:{MAIN}|{THREAD}){RUST_BEGIN}"
               rf"(?:;rusty::worker(?:;rusty::outer(?:;rusty::inner)?)?{RUST_ELSE})?",
}
# Of a program whose functions are not known: the C library leads to main() and to a thread's function, and no
# address is outside every mapping. Only node has code without a file.
NAMED = r"(?:;(?!\[unknown\]|\[anon\]|\[heap\]|\[stack\])[^;]+)*"
BEGIN = f"(?:_start;(?:lib:__libc_start_main|lib:_dl_init;lib:call_init)|{THREAD}|lib:clone)"
FOREIGN = {True: f"{BEGIN};.+|{OUTSIDE}", False: f"{BEGIN}{NAMED}|{OUTSIDE}"}
MAKES_CODE = {"node"}

# Of a program's samples, the least that have one of its functions as their last one that is its own:
# some nine tenths of what it spends there, and two thirds where it depends on the host.
LEAVES = {
    "uw-chain": {"chain_three": 0.95}, "uw-static": {"chain_three": 0.95},
    "uw-staticpie": {"chain_three": 0.95}, "uw-stripped": {"chain_three": 0.95},
    "uw-throwing": {"thrower": 0.55}, "uw-recursing": {"bottom": 0.95},
    "uw-handled": {"handler_burn": 0.25, "work_leaf": 0.1, "work_sort": 0.06, "compare": 0.03,
                   "work_copy": 0.02},
    "uw-realigned": {"aligned_leaf": 0.95}, "uw-loading": {"plugin_burn": 0.8},
    "uw-threads": {"thread_work": 0.95}, "uw-bare": {"bare_three": 0.9},
    "uw-calling": {"tiny_two": 0.15, "read_clock": 0.1, "call_all": 0.05, "tiny_one": 0.02},
    "uw-mapped": {"plugin_burn": 0.45}, "uw-jitted": {"back_in_c": 0.65},
    "uw-go": {"main.inner": 0.8}, "uw-rust": {"rusty::inner": 0.95},
}

# Known causes of stacks that are not whole, told by the stack itself: whose they are, what they look
# like, and the share of that program's samples that they may have. They are counted and printed apart.
Cause = collections.namedtuple("Cause", "program stack share")
ALLOWED = {
    # On a thread's own stack (g0) and on that of its signals only the runtime knows where the goroutine's
    # lies, and a stack's copy holds one stack.
    "Go: above a switch of stacks": Cause("uw-go", re.compile(
        r"\[unwind: [\w-]+\];(?:.*;)?runtime\.(?:systemstack|mcall|morestack|sigtramp)(?:;.*)?"),
        0.03),
}

# The first frames that a thread can have.
ROOTS = re.compile(r"_start|\[process start\]|\[thread start\]|lib:_start|lib:__?clone3?|lib:clone3?|"
                   r"_rt0_amd64(?:_linux)?|"
                   r"runtime\.(?:goexit|mstart|rt0_go|clone|mcall|morestack)")
# The kernel functions in which a task has no user stack: it leaves its old one or has none yet.
STACKLESS = re.compile(r"do_exit|do_group_exit|begin_new_exec|load_elf_binary|exec_binprm|bprm_execve|"
                       r"ret_from_fork|load_script")
ALIASES = {"__libc_start_main_impl": "__libc_start_main", "__clone3": "clone3", "__clone": "clone",
           "__GI___clone3": "clone3", "__clone_internal": "clone"}
LIBRARIES = ("libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6")
# What --annotate puts behind a frame of a perf map.
ANNOTATED = re.compile(r"_\[[j01i]\]$")
CRT = {"_init", "_fini", "frame_dummy", "__do_global_dtors_aux", "register_tm_clones",
       "deregister_tm_clones", "_dl_relocate_static_pie"}

# kind: whole, unfinished, stackless, allowed (WHY is one of ALLOWED)
Verdict = collections.namedtuple("Verdict", "kind why")


def lines_of(*argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "replace").splitlines()


def symbols_of(path, *flags):
    """(address, name) of the functions in a file."""
    rows = (row.split() for row in lines_of("nm", *flags, path))
    return [(int(row[0], 16), row[2].split("@")[0]) for row in rows
            if len(row) == 3 and row[1] in "tTwWi"]


def build_id(path):
    for row in lines_of("readelf", "-n", path):
        if "Build ID:" in row:
            return row.split()[-1]
    return ""


def demangled(path):
    """C++ names without arguments, as hostprof may show them."""
    names = [row.split(None, 2)[2] for row in lines_of("nm", "-DC", "--defined-only", path)]
    return [plain_name(name) for name in names]


def plain_name(name):
    """A C++ function without its version and its arguments."""
    return re.sub(r"\(.*\)(?: const)?$", "", re.sub(r"@@?[A-Z0-9_.]+$", "", name))


@functools.lru_cache(None)
def library_names():
    """Every function name that a frame in a system library may have."""
    names = set(CRT)
    for library in LIBRARIES:
        for path in glob.glob(f"/lib/x86_64-linux-gnu/{library}") + glob.glob(f"/lib64/{library}"):
            number = build_id(path)
            debug = f"/usr/lib/debug/.build-id/{number[:2]}/{number[2:]}.debug"
            names |= {name for _, name in symbols_of(path, "-D")}
            names |= {name for _, name in symbols_of(debug)}
    names |= {name for _, name in symbols_of(os.path.join(UNWIND, "uw-static"))}
    names |= set(demangled("/lib/x86_64-linux-gnu/libstdc++.so.6"))
    return frozenset(names - own_names())


@functools.lru_cache(None)
def own_names():
    """Functions of our programs, without what the compiler puts into each."""
    names = set()
    for path in glob.glob(os.path.join(UNWIND, "*uw-*")):
        if os.path.basename(path) not in ("uw-static", "uw-staticpie", "uw-go", "uw-rust"):
            names |= {name for _, name in symbols_of(path)}
    names |= {plain_name(name) for name in lines_of("c++filt", *names)}
    return frozenset(names - CRT - {"_start"})


@functools.lru_cache(None)
def roots():
    """(file's name, address) → name, by a program that looks at its own callers."""
    found = {}
    for row in lines_of(os.path.join(UNWIND, "uw-roots")):
        name, path, offset = row.split()
        # A return address; shown is it, or the byte before it, or where its function begins.
        for address in (int(offset, 16), int(offset, 16) - 1, function_at(path, int(offset, 16) - 1)):
            found[os.path.basename(path), address] = name
    return found


@functools.lru_cache(None)
def sections_of_plt(path):
    """[start, end) of the linkage tables in a file."""
    found = []
    for row in lines_of("readelf", "-SW", path):
        parts = re.match(r"\s*\[\s*\d+\]\s+(\.plt\S*|\.iplt)\s+\S+\s+(\w+)\s+\w+\s+(\w+)", row)
        if parts:
            start = int(parts.group(2), 16)
            found.append((start, start + int(parts.group(3), 16)))
    return found


@functools.lru_cache(None)
def symbol_at(path, address):
    symbols = sorted(symbols_of(path))
    at = bisect.bisect_right(symbols, (address, "\x7f")) - 1
    return symbols[at][1] if at >= 0 else "?"


def name_address(file, address):
    """A frame that has only an address, in our own form."""
    known = roots().get((file, address))
    if known:
        return known if known == "_start" else f"lib:{known}"
    # "uw-stripped" has the addresses of "uw-chain"; fresh copies have a number behind.
    original = os.path.join(UNWIND, re.sub(r"\.\d+$", "", file).replace("uw-stripped", "uw-chain"))
    if not file.startswith(("uw-", "libuw-")) or not os.path.exists(original):
        return "lib:?" if file.startswith((*LIBRARIES, "[vdso]")) else f"[{file}+{address:#x}]"
    if any(start <= address < end for start, end in sections_of_plt(original)):
        return "plt"
    return own_form(symbol_at(original, address))


def own_form(name):
    name = ALIASES.get(name, name)
    if name in ("_start", "[process start]"):
        return "_start"
    if name == "[thread start]":
        return "lib:clone3"
    if name.endswith("@plt"):
        return "plt"
    if name in own_names():
        return name
    return f"lib:{name}" if name in library_names() or name.startswith("__vdso") else name


@functools.lru_cache(None)
def normal_frame(frame):
    """One frame of the collapsed format in the judge's form."""
    address = re.fullmatch(r"\[(.+)\+0x([0-9a-f]+)\]", frame)
    if address:
        return name_address(address.group(1), int(address.group(2), 16))
    return own_form(plain_name(ANNOTATED.sub("", frame)))


def judge(program, frames):
    """Whether FRAMES (root first, kernel frames marked _[k]) are what PROGRAM must show."""
    kernel = [frame[:-4] for frame in frames if frame.endswith("_[k]")]
    user = [frame for frame in frames if not frame.endswith("_[k]")]
    broken = [frame for frame in user if frame.startswith("[unwind:")]
    real = [frame for frame in user if frame not in broken]
    if not real:
        if any(STACKLESS.match(frame) for frame in kernel):
            return Verdict("stackless", "")
        return Verdict("unfinished", broken[0] if broken else "no user frames")
    # A thread before its first instruction: it is at clone3's, on a stack with nothing on it.
    if broken and "ret_from_fork" in kernel and len(real) <= 2:
        return Verdict("stackless", "")
    verdict = Verdict("unfinished", broken[0]) if broken else \
        judge_user(program, [normal_frame(frame) for frame in real])
    why = allowed_cause(program, user) if verdict.kind == "unfinished" else ""
    return Verdict("allowed", why) if why else verdict


def allowed_cause(program, user):
    """Which of ALLOWED has made this stack, or ""."""
    return next((name for name, cause in ALLOWED.items()
                 if cause.program == program and cause.stack.fullmatch(";".join(user))), "")


def own_leaf(frames):
    """The last frame that is neither a library's, nor the kernel's, nor a linkage table's."""
    names = (normal_frame(frame) for frame in reversed(frames) if not frame.endswith("_[k]"))
    return next((name for name in names if not name.startswith(("lib:", "[")) and name != "plt"), "")


def judge_user(program, frames):
    if not ROOTS.fullmatch(frames[0]):
        return Verdict("unfinished", f"root {frames[0]}")
    name, stack = re.sub(r"\.\d+$", "", program), ";".join(frames)
    foreign = FOREIGN[name in MAKES_CODE]
    # Before the program is there it is the test's own process.
    wanted = foreign if "Py_BytesMain" in frames or "pythread_wrapper" in frames else \
        STACKS.get(name, foreign)
    if re.fullmatch(wanted, stack) or re.fullmatch(OUTSIDE, stack):
        return Verdict("whole", "")
    return Verdict("unfinished", "not its frames")
