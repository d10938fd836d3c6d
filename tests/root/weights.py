# SPDX-License-Identifier: Apache-2.0
"""What the samples of each process and thread weigh, against the clocks that the scheduler keeps of them."""
import collections
import math

from hp import *

Cell = collections.namedtuple("Cell", "what weighed clock samples off")

# Beside chance: what a clock may be off.
TOLERANCE = 0.01


def allowed(clock_ns, frequency):
    """One percent, and three standard deviations of as many samples as it should have."""
    return TOLERANCE * clock_ns + 3 * math.sqrt(clock_ns * 1e9 / frequency)


def weigh(path):
    """(pid, tid) -> (nanoseconds, samples) of a recording."""
    sums = collections.defaultdict(lambda: [0, 0])
    for column, more in (0, ["--total"]), (1, []):
        for line in collapsed(path, "-t", *more):
            tid = int(re.search(r"tid=(\d+)\]$", line.thread).group(1))
            sums[int(line.process.rpartition("-")[2]), tid][column] += line.count
    return sums


def clocks(text):
    """(pid, tid) -> CPU time, from what handover printed."""
    rows = [row.split()[1:] for row in text.splitlines() if row.startswith("thread ")]
    return {(int(pid), int(tid)): int(ns) for pid, tid, ns in rows}


def compare(sums, clock, lost):
    """A cell for each thread and each process; LOST (pid → ns) is told beside, and counts as seen."""
    cells, of_process = [], collections.defaultdict(lambda: [0, 0, 0])
    for (pid, tid), ns in sorted(clock.items()):
        weighed, samples = sums.get((pid, tid), (0, 0))
        cells.append(Cell(f"thread {tid}", weighed, ns, samples, weighed - ns))
        for i, value in enumerate((weighed, ns, samples)):
            of_process[pid][i] += value
    for pid, (weighed, ns, samples) in of_process.items():
        weighed += lost.get(pid, 0)
        cells.append(Cell(f"process {pid}", weighed, ns, samples, weighed - ns))
    return cells


def wrong(cells, frequency):
    return [cell for cell in cells if abs(cell.off) > allowed(cell.clock, frequency)]


def record_handover(frequency, kind, count, burst_us, pause, seconds):
    """Record a handover's whole life: its cells."""
    need_root()
    directory = temp_dir()
    path, stats = os.path.join(directory, "x.jfr"), os.path.join(directory, "s.json")
    text = hostprof("record", "-F", frequency, "-o", path, "--stats", stats, "--",
                    os.path.join(WORKLOADS, "handover"), seconds, kind, count, burst_us, pause,
                    timeout=120).out
    lost = {row["pid"]: row["lost_weight"] for row in read_json(stats)["processes"]}
    clock = clocks(text)
    expect_equal(len(clock), count, "threads that told their clock")
    return compare(weigh(path), clock, lost)


def record_phases(frequency, yields, seconds):
    """A thread that computes and yields in turn: of each of its phases what it weighs, what the thread's own clock says, and how many samples there are."""
    need_root()
    path = temp_path("x.jfr")
    text = hostprof("record", "-F", frequency, "-o", path, "--", os.path.join(WORKLOADS, "phases"), seconds, yields, timeout=120).out
    tid, *ns = map(int, expect_match(r"(\d+) computing (\d+) yielding (\d+)", text).groups())
    clock = dict(zip(("computing", "yielding"), ns))
    weighed, samples = ({phase: sum(line.count for line in collapsed(path, "-t", *more) if line.thread.endswith(f" tid={tid}]") and phase in line.frames)
                         for phase in clock} for more in (["--total"], []))
    return weighed, clock, sum(samples.values())


def fault_of_phases(weighed, clock, samples):
    """The phases' shares of the thread's time may be off by one point, and three standard deviations of so many samples; None: they are not."""
    share, known = (part["yielding"] / max(sum(part.values()), 1) for part in (weighed, clock))
    may = 0.01 + 3 * math.sqrt(known * (1 - known) / max(samples, 1))
    print(f"# {100 * share:.2f} % by {samples} samples, {100 * known:.2f} % by the thread's clock")
    if samples > 100 and abs(share - known) <= may:
        return None
    return f"what yields is {100 * share:.2f} % of the thread, and not {100 * known:.2f}"


def beside(busy):
    """Burners on the first BUSY cpus while the test runs."""
    for cpu in range(busy):
        native("burn", 600, preexec_fn=lambda cpu=cpu: os.sched_setaffinity(0, {cpu}))


def show(name, cells):
    worst = max(cells, key=lambda cell: abs(cell.off) / max(cell.clock, 1))
    whole = [sum(cell[i] for cell in cells if cell.what.startswith("thread")) for i in (1, 2, 3)]
    print(f"# {name}: {whole[2]} samples weigh {whole[0] / 1e9:.3f} s of {whole[1] / 1e9:.3f} s "
          f"({100 * (whole[0] / whole[1] - 1):+.2f} %); farthest {worst.what} "
          f"{100 * worst.off / worst.clock:+.2f} % of {worst.clock / 1e9:.3f} s", flush=True)
