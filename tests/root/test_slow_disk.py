#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs last.
"""A program on a disk that is slow, of which nothing is in memory: its stacks are whole once its file could be read, and nobody else waits for it."""
import glob
import json
import shutil

from hp import *

TOOLS = os.path.join(BUILD, "tools")
FUNCTIONS = 100_000
# Opening such a file reads it in some 30 places.
DELAY_MS = 15
SECONDS = 14
# By then its file is known.
SETTLED_MS = 7000
FREQUENCY = 997
LEAST_WHOLE = 0.98
# What another program's samples may lack: the first ones, before its own file was read.
MOST_OF_OTHERS = 0.02


def disk_with(*files):
    """An ext4 file system with these."""
    if not shutil.which("mkfs.ext4", path=os.environ["PATH"] + ":/sbin:/usr/sbin"):
        skip("no mkfs.ext4")
    place, image = temp_dir(), temp_path("image")
    for file in files:
        shutil.copy(file, place)
    size = sum(os.path.getsize(file) for file in files)
    with open(image, "wb") as out:
        out.truncate(size + size // 4 + (8 << 20))
    run(["mkfs.ext4", "-q", "-F", "-d", place, image], env={**os.environ, "PATH": os.environ["PATH"] + ":/sbin:/usr/sbin"}, code=0, timeout=60)
    return image


def on_slow_disk(workload, file):
    """It runs the functions of FILE, which is on a slow disk there."""
    mounted = temp_dir()
    process = start([os.path.join(WORKLOADS, "slow_disk"), disk_with(file), mounted, DELAY_MS, workload, "start", 1, 20000, 20000,
                     os.path.join(mounted, os.path.basename(file))], cwd="/")
    return ready_or_skip(process, "no FUSE, or no loop device", 60)


def whole_burn(path, pid):
    """Of the neighbour: samples, and those of which all is there that it runs."""
    lines = of_pid(collapsed(path), pid)
    whole = [line for line in lines if not line.frames[0].startswith("[unwind") and in_order(line.frames, "main")]
    return total(lines), total(whole)


@test
def a_file_that_is_not_in_memory():
    need_root()
    place = temp_dir()
    run([os.path.join(TOOLS, "scale_elf"), place, 0, 1, FUNCTIONS], timeout=60, code=0)
    file = glob.glob(os.path.join(place, "*.elf"))[0]
    # A name that no other test's process has.
    workload = os.path.join(place, f"slow-{os.getpid()}")
    os.symlink(os.path.join(WORKLOADS, "scale"), workload)
    on_slow_disk(workload, file)
    neighbour = native("burn", 60)
    path, stats = temp_path("x.jfr"), temp_path("s.json")
    origin = time.monotonic_ns()
    hostprof("record", "-a", "-F", FREQUENCY, "-d", SECONDS, "-o", path, "--stats", stats, timeout=SECONDS + 20)
    took = (time.monotonic_ns() - origin) / 1e9
    judged = run([os.path.join(TOOLS, "scale_judge"), path, os.path.basename(workload), origin, SETTLED_MS, 3], timeout=60, code=0)
    early, late = (json.loads(judged.out)[part] for part in ("early", "late"))
    figures, (others, others_whole) = read_json(stats), whole_burn(path, neighbour.pid)
    print(f"# {os.path.getsize(file) >> 20} MB, {DELAY_MS} ms a read: first {SETTLED_MS} ms {early['whole']} of {early['samples']} whole, then {late['whole']} "
          f"of {late['samples']}; the neighbour {others_whole} of {others}; readers {figures['readers']}; {took:.1f} s", flush=True)
    for line in judged.err.splitlines():
        print(f"# {line[:300]}", flush=True)
    expect(late["in_chains"] > 300, "too few samples are in the file's code: the test proves little")
    expect(early["whole"] >= LEAST_WHOLE * early["samples"], f"{early['whole']} of the first {early['samples']} are whole")
    expect(late["whole"] >= LEAST_WHOLE * late["samples"], f"{late['whole']} of {late['samples']} are whole")
    expect(others > 2000 and others_whole >= (1 - MOST_OF_OTHERS) * others, f"{others_whole} of the neighbour's {others} are whole")
    expect_equal(figures["readers"]["files_given_up"], 0, "files given up")
    expect_equal(figures["lost"], 0, "lost samples")
    expect(took < SECONDS + 2, f"it took {took:.1f} s")


main()
