# SPDX-License-Identifier: Apache-2.0
"""The programs whose stacks must be whole, how they are run during one recording, and the table."""
import collections
import contextlib
import math
import random
import threading

from hp import *
import gates
from known_stacks import ALLOWED, LEAVES, UNWIND, judge, own_leaf

FREQUENCY = 997
BATCH = 5
SOURCES = os.path.join(ROOT, "tests", "workloads", "unwind")

# allowed: known causes; leaves: the last own functions of whole stacks.
Row = collections.namedtuple("Row", "samples whole stackless reasons examples allowed leaves")


def path_of(name):
    return os.path.join(UNWIND, name)


def own_programs(seconds):
    """name → argv of the programs that know their frames; the name is comm, "/" sets two apart."""
    plugins = [path_of("libuw-plugin.so"), path_of("libuw-other.so")]
    more = {"uw-loading": plugins[:1], "uw-loading/two": plugins, "uw-mapped": plugins[:1],
            "uw-handled/alt": ["altstack"]}
    names = ["uw-chain", "uw-static", "uw-staticpie", "uw-stripped", "uw-throwing", "uw-handled",
             "uw-handled/alt", "uw-recursing", "uw-realigned", "uw-loading", "uw-loading/two",
             "uw-threads", "uw-spawning", "uw-bare", "uw-calling", "uw-mapped", "uw-jitted",
             "uw-go", "uw-rust"]
    argvs = {name: [path_of(name.split("/")[0]), seconds, *more.get(name, [])] for name in names}
    return those_that_are_here(argvs)


def those_that_are_here(argvs):
    """Without the programs, or the languages, that this host does not have."""
    here = {name: argv for name, argv in argvs.items() if shutil.which(argv[0])}
    missing = [name for name in argvs if name not in here]
    if missing:
        print(f"# not on this host: {', '.join(missing)}")
    return here


# --- programs of others -----------------------------------------------------------------------


def make_text(path, megabytes):
    """Text that compresses like text."""
    rng = random.Random(4)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(4000)]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(megabytes * 16):
            file.write(" ".join(rng.choices(words, k=10000)) + "\n")
    return path


def make_c_file(path):
    """Functions for cc1 -O2 to work on for a while."""
    body = "int f{n}(int a, int b) {{ int s = 0; for (int i = 0; i < a; i++) {{ if (i & {n}) s += " \
        "b * i ^ {n}; else s -= (a << 3) / (i + 1); switch (s & 7) {{ case 1: s++; break; case 2: " \
        "s *= 3; break; case 5: s ^= b; default: s--; }} }} return s; }}\n"
    with open(path, "w", encoding="ascii") as file:
        file.writelines(body.format(n=n) for n in range(150))
    return path


def make_repository(path, commits=1500):
    """A git repository with a history to log and to pack."""
    run(["git", "init", "-q", path], code=0)
    rng = random.Random(5)
    lines = [f"line {n} {rng.random()}" for n in range(400)]
    parts = []
    for n in range(commits):
        lines[rng.randrange(400)] = f"line {n} {rng.random()}"
        data = "\n".join(lines)
        parts.append(f"commit refs/heads/main\ncommitter A <a@b> {1600000000 + n} +0000\ndata 6\n"
                     f"commit\nM 100644 inline file{n % 7}.txt\ndata {len(data)}\n{data}\n")
    done = subprocess.run(["git", "-C", path, "fast-import", "--quiet"],
                          input="".join(parts).encode(), check=False)
    expect_equal(done.returncode, 0, "git fast-import")
    return path


def foreign_programs(directory, seconds):
    """name → argv; they are started again until the time is over."""
    text, source = make_text(f"{directory}/text", 12), make_c_file(f"{directory}/source.c")
    repository = make_repository(f"{directory}/repository")
    cc1 = run(["gcc", "-print-prog-name=cc1"]).out.strip()
    git = ["git", "-C", repository, "-c", "gc.auto=0"]
    argvs = {
        "gzip": ["gzip", "-c", text],
        "python3": ["/usr/bin/python3", f"{SOURCES}/recursing.py", seconds],
        "git": [*git, "log", "-p", "--stat", "refs/heads/main"],
        "git/repack": [*git, "-c", "pack.threads=2", "repack", "-adfq", "--window=50"],
        "perl": ["perl", f"{SOURCES}/working.pl", seconds],
        "cc1": [cc1, "-quiet", "-O2", source, "-o", "/dev/null"],
        "node": ["node", f"{SOURCES}/jitting.js", seconds],
        "openssl": ["openssl", "speed", "-seconds", "1", "sha512", "aes-256-cbc", "rsa2048",
                    "ed25519", "ecdsap256"],
    }
    return those_that_are_here(argvs)


class Again:
    """A program that is started again and again until stop()."""

    def __init__(self, argv):
        self.argv = [str(a) for a in argv]
        self.pids = set()
        self.child = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._loop, daemon=True)
        self.thread.start()
        cleanup(self.stop)

    def _loop(self):
        while not self.over.is_set():
            self.child = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.pids.add(self.child.pid)
            self.child.wait()

    def stop(self):
        self.over.set()
        if self.child and self.child.poll() is None:
            self.child.terminate()
        self.thread.join(10)


# --- one recording ----------------------------------------------------------------------------


class Recording:
    """hostprof over the whole host, from its making to finish()."""

    def __init__(self, *args):
        self.recorder = Recorder("-F", FREQUENCY, *args)

    def finish(self, *view):
        """Lines of the whole host with marked kernel frames, and the figures; VIEW: for report."""
        time.sleep(0.3)
        path = self.recorder.end()
        stats = read_json(self.recorder.stats_path)
        print_figures(stats)
        return collapsed(path, "--annotate", *view), stats


def print_figures(stats):
    """What the unwinder counted, for whoever looks for the cause of an unfinished stack."""
    figures = [f"{row['name'][7:]} {row['value']}" for row in stats["counters"]
               if row["name"].startswith("unwind.")]
    print(f"# lost {stats['lost']}, unwind: {', '.join(figures)}")


class Outcome:
    """What one round of all programs came to, by the program's name."""

    def __init__(self):
        # Nanoseconds: what a program's samples weigh with those that were lost, and its own clock.
        self.rows, self.weights, self.clocks = {}, {}, {}
        self.dropped = 0  # of the whole recording

    def add(self, name, lines, books):
        lost = sum(row["lost"] for row in books)
        self.weights[name] = sum(row["weight"] + row["lost_weight"] for row in books)
        self.rows[name] = add_lost(judge_lines(name.split("/")[0], lines), lost)


def pick(name, pids, lines, stats):
    """Lines and books of all of its name, or of its pids where two share one."""
    comm, by_pid = name.split("/")[0], name.startswith(("uw-handled", "uw-loading"))
    mine = [line for line in lines if comm_of(line) == comm and
            (not by_pid or int(line.process.rpartition("-")[2]) in pids)]
    books = [row for row in stats["processes"]
             if row["name"] == comm and (not by_pid or row["pid"] in pids)]
    return mine, books


def run_batch(own, foreign, seconds, texts):
    """Run some programs at once to their end; returns the pids of each."""
    again = {name: Again(argv) for name, argv in foreign.items()}
    processes = {name: start(argv) for name, argv in own.items()}
    until = time.monotonic() + seconds
    for name, process in processes.items():
        texts[name] = process.finish(seconds + 60)
    time.sleep(max(until - time.monotonic(), 0))
    for program in again.values():
        program.stop()
    return {**{name: {process.pid} for name, process in processes.items()},
            **{name: program.pids for name, program in again.items()}}


def record_round(seconds):
    """All programs below one recording of the whole host, five at once for so many seconds."""
    own, foreign = own_programs(seconds), foreign_programs(temp_dir(), seconds)
    names = [*own, *foreign]
    recording, texts, pids = Recording(), {}, {}
    for batch in (names[at:at + BATCH] for at in range(0, len(names), BATCH)):
        pids.update(run_batch({name: own[name] for name in batch if name in own},
                              {name: foreign[name] for name in batch if name in foreign},
                              seconds, texts))
    lines, stats = recording.finish()
    outcome = Outcome()
    outcome.dropped = gates.dropped(stats)
    pids.pop("git/repack", None)  # shown with the other git
    for name, its_pids in pids.items():
        outcome.add(name, *pick(name, its_pids, lines, stats))
        clock = re.search(r"cpu_ns (\d+)", texts.get(name, ""))
        if clock and name != "uw-spawning":
            outcome.clocks[name] = int(clock.group(1))
    for pid in pids.get("uw-jitted", ()):
        with contextlib.suppress(FileNotFoundError):
            os.remove(f"/tmp/perf-{pid}.map")
    return outcome


def comm_of(line):
    return line.process.rpartition("-")[0]


def judge_lines(program, lines):
    """The row of a program in the table."""
    reasons, examples, kinds, allowed, leaves = collections.Counter(), {}, collections.Counter(), \
        collections.Counter(), collections.Counter()
    for line in lines:
        verdict = judge(program, line.frames)
        kinds[verdict.kind] += line.count
        if verdict.kind == "unfinished":
            reasons[verdict.why] += line.count
            examples.setdefault(verdict.why, ";".join(line.frames))
        elif verdict.kind == "allowed":
            allowed[verdict.why] += line.count
        elif program in LEAVES:
            leaves[own_leaf(line.frames)] += line.count
    return Row(total(lines), kinds["whole"], kinds["stackless"], reasons, examples, allowed, leaves)


def add_lost(row, count):
    """A sample that was lost is one that was not finished."""
    if not count:
        return row
    return row._replace(samples=row.samples + count,
                        reasons=row.reasons + collections.Counter(lost=count))


def add_rows(rows):
    """The sum of rows."""
    rows = list(rows)
    examples = {}
    for row in rows:
        examples.update(row.examples)
    sums = [sum((getattr(row, name) for row in rows), collections.Counter())
            for name in ("reasons", "allowed", "leaves")]
    return Row(sum(row.samples for row in rows), sum(row.whole for row in rows),
               sum(row.stackless for row in rows), sums[0], examples, sums[1], sums[2])


def faults(rows, dropped):
    """What is wrong of rows by their programs' names; DROPPED samples of whichever process are bad."""
    for name, row in rows.items():
        if unfinished(row) > gates.most_bad(row.samples):
            yield f"{name}: {unfinished(row)} of {row.samples} are not whole"
        for cause, count in row.allowed.items():
            if count > gates.most_bad(row.samples, ALLOWED[cause].share):
                yield f"{name}: {count} of {row.samples} are allowed by {cause}"
        for leaf, part in LEAVES.get(name.split("/")[0], {}).items():
            # Chance spreads the rest of its samples, too.
            least = part * row.samples - 4 * math.sqrt(part * (1 - part) * row.samples)
            if row.leaves[leaf] < least:
                yield f"{name}: {row.leaves[leaf]} of {row.samples} at {leaf}, at least {least:.0f} are"
    both = add_rows(rows.values())
    # One that is lost is in its program's row; the others have none.
    bad = unfinished(both) + max(dropped - both.reasons["lost"], 0)
    if bad > gates.most_bad_of_suite(both.samples):
        yield f"{bad} of {both.samples} are not whole; {gates.most_bad_of_suite(both.samples)} may be"


def unfinished(row):
    return sum(row.reasons.values())


def print_table(rows):
    """One line per program: samples, whole, without a user stack, unfinished, share, reasons."""
    print(f"# {'program':16} {'samples':>8} {'whole':>8} {'no stack':>8} {'allowed':>7} {'unfin.':>7} "
          f"{'share':>8}")
    for name, row in [*rows.items(), ("all", add_rows(rows.values()))]:
        part = 100 * unfinished(row) / max(row.samples, 1)
        reasons = ", ".join(f"{why} {count}" for why, count in
                            [*row.reasons.most_common(4), *row.allowed.items()])
        print(f"# {name:16} {row.samples:8} {row.whole:8} {row.stackless:8} {row.allowed.total():7} "
              f"{unfinished(row):7} {part:7.3f}%  {reasons}")


def print_examples(rows, limit=12):
    """One stack for each kind of failure."""
    for name, row in rows.items():
        for why, stack in list(row.examples.items())[:limit]:
            text = stack if len(stack) < 1500 else f"{stack[:700]} … {stack[-700:]}"
            print(f"# {name}: {why}: {text}")


__all__ = [name for name in list(globals()) if not name.startswith("_")]
