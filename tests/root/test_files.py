#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that hostprof writes: whose they are, what leads them nowhere else, what survives which end."""
import resource

from hp import *

USER, OTHER = 12345, 54321
ENDINGS = [("x.html", []), ("x.pb.gz", []), ("x.jfr", []), ("-", ["-f", "collapsed"])]


def samples_of(path, pid):
    came = hostprof("report", path, "-f", "collapsed", "-o", "-", code=None)
    return 0 if came.code else total(of_pid(parse_collapsed(came.out), pid))


def has_samples(directory, pid):
    """The recording in DIRECTORY, under whatever name, once it has some of PID."""
    for path in glob.glob(os.path.join(directory, "*.jfr")):
        if samples_of(path, pid) > 10:
            return path
    return None


@test
def kill_9_leaves_the_recording_of_every_output():
    need_root()
    burner = native("burn", 60)
    for output, args in ENDINGS:
        where = temp_dir()
        env = dict(os.environ, TMPDIR=where)
        argv = [HOSTPROF, "record", "-F", "997", "-p", burner.pid, "-o", output, *args]
        recorder = start(argv, stderr=subprocess.DEVNULL, cwd=where, env=env)
        wait_until(lambda where=where: has_samples(where, burner.pid), 30, f"samples on the disk for {output}")
        recorder.signal(signal.SIGKILL)
        recorder.popen.wait()
        left = os.listdir(where)
        expect_equal(len(left), 1, f"files after -o {output}: {left}")
        path = os.path.join(where, left[0])
        mine = samples_of(path, burner.pid)
        print(f"# {output}: {mine} samples in {left[0]}")
        expect(mine > 10, f"only {mine} samples of the burner in {left[0]}")
        expect_equal(os.stat(path).st_mode & 0o777, 0o600, f"mode of {left[0]}")
        again = run([*argv, "-d", "0.3"], env=env, cwd=where, code=0)
        if output != "x.jfr":
            expect_in(f"{left[0]} is of a recording that was killed", again.err, "what the next run says")
            expect_equal(samples_of(path, burner.pid), mine, "samples after the next run")
            expect_equal([n for n in os.listdir(where) if n.endswith(".jfr")], left, "recordings after the next run")


@test
def links_of_others_in_a_shared_directory():
    need_root()
    where = temp_dir()
    os.chmod(where, 0o1777)
    victim = temp_path("victim")
    with open(victim, "w", encoding="ascii") as file:
        file.write("precious")
    planted = [time.strftime("hostprof-%Y%m%d-%H%M%S.jfr", time.localtime(time.time() + s)) for s in range(60)]
    for name in [*planted, "x.jfr", "x.html", "x.json"]:
        os.symlink(victim, os.path.join(where, name))
        os.lchown(os.path.join(where, name), OTHER, OTHER)
    env = dict(os.environ, SUDO_UID=str(USER), SUDO_GID=str(USER))
    run([HOSTPROF, "record", "-d", "0.3"], env=env, cwd=where, code=0)
    for args in (["-o", "x.jfr"], ["-o", "x.html"], ["-o", "y.html", "--stats", "x.json"]):
        said = run([HOSTPROF, "record", "-d", "0.3", *args], env=env, cwd=where, code=1).err
        expect_in(f"belongs to user {OTHER}", said, "what is said of the link")
    run([HOSTPROF, "record", "-d", "0.3", "-o", "z.html", "--stats", "z.json"], env=env, cwd=where, code=0)
    with open(victim, encoding="ascii") as file:
        expect_equal(file.read(), "precious", "what the links lead to")
    ours = [n for n in os.listdir(where) if not os.path.islink(os.path.join(where, n))]
    expect_equal(len(ours), 3, f"our files: {ours}")
    for name in ours:
        st = os.stat(os.path.join(where, name))
        expect_equal((st.st_uid, st.st_gid, st.st_mode & 0o7777), (USER, USER, 0o600), f"owner and mode of {name}")


# More than what is written first on a host where compilers run, and nothing can be kept.
MOST_BYTES = 500000


@test
def a_limit_of_file_sizes():
    need_root()
    burner = native("burn", 60)
    for output in ("x.jfr", "x.html"):
        where = temp_dir()
        limited = start([HOSTPROF, "record", "-F", "4999", "-d", "40", "-o", output], stderr=subprocess.PIPE,
                        cwd=where, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES)))
        limited.finish(code=1)
        said = limited.popen.stderr.read().decode()
        expect_in("File too large", said, "what it says")
        paths = glob.glob(os.path.join(where, "*.jfr"))
        expect(paths, f"no recording in {os.listdir(where)}, after {said!r}")
        path = paths[0]
        expect_in(os.path.basename(path), said, "what it says")
        expect(samples_of(path, burner.pid) > 10, "the burner is missing")


@test
def a_disk_that_is_full_for_a_while():
    need_root()
    where = temp_dir()
    run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", where], code=0)
    cleanup(subprocess.call, ["umount", "-l", where])
    burner = native("burn", 60)
    path, stats = os.path.join(where, "x.jfr"), temp_path("stats.json")
    recorder = start([HOSTPROF, "record", "-F", "997", "-d", "9", "-o", path, "--stats", stats],
                     stderr=subprocess.PIPE)
    wait_until(lambda: samples_of(path, burner.pid) > 10, 30, "samples on the disk")
    with open(os.path.join(where, "filler"), "wb", buffering=0) as filler:
        with contextlib.suppress(OSError):
            while True:
                filler.write(b"x" * 65536)
        with contextlib.suppress(OSError):
            while True:
                filler.write(b"x" * 512)
    full = os.path.getsize(path)
    time.sleep(3)
    expect_equal(os.path.getsize(path), full, "size while the disk was full")
    os.unlink(os.path.join(where, "filler"))
    recorder.finish(code=None)
    said = recorder.popen.stderr.read().decode()
    expect_equal(recorder.popen.returncode, 0, f"exit code, with {said}")
    expect_in("the disk was full for a while; no sample was lost", said, "what it says")
    with open(stats, encoding="utf-8") as file:
        expect_equal(total(collapsed(path)), json.load(file)["samples"], "samples")


@test
def memory_that_ends():
    need_root()
    burner = native("burn", 60)
    where = temp_dir()
    recorder = start([HOSTPROF, "record", "-F", "997", "-d", "40", "-o", "x.html"], stderr=subprocess.PIPE, cwd=where)
    path = os.path.join(where, "x.html.partial.jfr")
    wait_until(lambda: samples_of(path, burner.pid) > 10, 30, "samples on the disk")
    with open(f"/proc/{recorder.pid}/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * 4096
    resource.prlimit(recorder.pid, resource.RLIMIT_AS, (size, size))
    # What is new to it wants memory.
    until = time.monotonic() + 30
    while recorder.running() and time.monotonic() < until:
        run([sys.executable, "-c", "import json, decimal, hashlib; sum(range(10**6))"], code=0)
    recorder.finish(code=1)
    said = recorder.popen.stderr.read().decode()
    print(f"# {said.strip()}")
    expect_in("memory", said, "what it says")
    expect_in("x.html.partial.jfr", said, "what it says")
    expect(samples_of(path, burner.pid) > 10, "the burner is missing")


main(lanes=2)
