#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""What users meet at the command line: exit codes, sentences, outputs that cannot be written."""
import glob

from hp import *

COMMANDS = ("record", "stream", "report", "list", "attach", "detach", "status", "doctor", "help")
NOBODY = 65534


def message(result, code, *parts):
    """The exit code, and one sentence on stderr that has all PARTS."""
    expect_equal(result.code, code, f"exit code (stderr {result.err!r})")
    expect(result.err.startswith("hostprof: "), f"no message: {result.err!r}")
    for part in parts:
        expect_in(part, result.err, "message")
    expect_not_in("libbpf", result.err, "message")


def unused_pid():
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        return int(file.read()) - 1


def visible_copy():
    """hostprof and its agent where another user can run them."""
    place = temp_dir()
    os.chmod(place, 0o755)
    for path in (HOSTPROF, AGENT):
        shutil.copy(path, place)
    return os.path.join(place, "hostprof"), place


def own_dir(uid):
    path = temp_dir()
    os.chown(path, uid, uid)
    return path


def as_nobody(*args):
    program, _ = visible_copy()
    return run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                program, *args], cwd=own_dir(NOBODY))


@test
def help_lists_every_option():
    """The table rows in the sources are all in what --help prints."""
    for command in COMMANDS:
        text = hostprof(command, "--help").out
        expect_in(f"usage: hostprof {command}", text)
        expect_in("--help", text)
    for source, commands in (("record_args.c", ["record"]), ("cmd_report.c", ["report"]),
                             ("view_flags.h", ["record", "report"]), ("cmd_list.c", ["list"]),
                             ("cmd_doctor.c", ["doctor"]), ("cmd_attach.c", ["attach"]),
                             ("cmd_status.c", ["status"])):
        with open(os.path.join(ROOT, "userspace", "cmd", source), encoding="utf-8") as file:
            text = file.read()
        names = re.findall(r"\{\s*OPTION_TYPE_\w+,\s*(?:'.'|0),\s*\"([a-z-]+)\"", text)
        expect_equal(len(names), text.count("OPTION_TYPE_") - text.count("OPTION_TYPE_HEADING"),
                     f"option rows in {source}")
        for command in commands:
            text = hostprof(command, "--help").out
            for name in names:
                expect_in(f"--{name}", text, f"{command} --help")


@test
def help_fits_a_terminal():
    for command in COMMANDS:
        for line in hostprof(command, "--help").out.splitlines():
            if not line.startswith("usage:"):
                expect(len(line) <= 80, f"{command} --help: a line of {len(line)}: {line!r}")


@test
def overview_and_version():
    text = hostprof("--help").out
    for command in COMMANDS:
        expect_match(rf"^  {command} ", text)
    expect_equal(hostprof("help").out, text)
    expect_match(r"^hostprof \d+\.\d+\.\d+$", hostprof("--version").out)
    expect_in("usage: hostprof", hostprof(code=2).err)
    expect_in("page-not-resident", hostprof("help", "reasons").out)
    expect_in(".pb.gz", hostprof("help", "formats").out)


@test
def unknown_command_suggests():
    message(hostprof("recrod", code=None), 2, "there is no command 'recrod'",
            "did you mean 'hostprof record'?")
    message(hostprof("zzz", code=None), 2, "there is no command 'zzz'", "hostprof help")


@test
def bad_options():
    for args, text in (
            (["record", "--nope"], "unknown option '--nope'"),
            (["record", "-F", "0"], "-F: 0 is not within 1 to 20000"),
            (["record", "-F", "20001"], "-F: 20001"),
            (["record", "-F", "x"], "'x' is not a number"),
            (["record", "-d", "soon"], "'soon' is not a duration"),
            (["record", "-d", "0"], "'0' is not a duration"),
            (["record", "-e", "cpu", "-e", "cpu"], "cpu is there twice"),
            (["record", "-e", "cpu,cpu"], "cpu is there twice"),
            (["record", "-e", "alloc,alloc=64k"], "alloc is there twice"),
            (["record", "-e", "wall,wall=5ms"], "wall is there twice"),
            (["record", "-e", "wall", "-e", "offcpu"], "offcpu does not go with wall"),
            (["record", "-e", "offcpu,nativelock"], "nativelock does not go with offcpu"),
            (["record", "-e", "nativelock", "--cpu", "0"], "--cpu does not go with nativelock"),
            (["record", "-e", "wall=2s"], "'wall=2s' does not say how much time"),
            (["record", "-e", "wall", "--cpu", "0"], "--cpu does not go with wall"),
            (["record", "-e", "alloc=often"], "'alloc=often' does not say after how many bytes"),
            (["report", "a.jfr", "--all-user", "--all-kernel"], "does not go with --all-kernel"),
            (["record", "-e", "no-such-event"], "no-such-event"),
            (["record", "--debuginfod", "-o", "x.jfr"], "--debuginfod is for views; x.jfr is a recording"),
            (["record", "-f", "gif"], "there is no format 'gif'"),
            (["record", "-o", "x.gif"], "'x.gif' does not say a format"),
            (["record", "--agent=perhaps"], "'perhaps' is none of auto, always, never"),
            (["record", "--max-depth", "3000"], "--max-depth"),
            (["record", "--unwind", "magic"], "--unwind"),
            (["record", "--ring-size", "100k"], "--ring-size"),
            (["record", "--memory-limit", "47M"], "--memory-limit: less than 48M"),
            (["record", "--chunk-size", "257M"], "--chunk-size: more than 256M"),
            (["record", "--chunk-time", "soon"], "'soon' is not a duration"),
            (["record", "-a", "-p", str(os.getpid())], "-a does not go with -p"),
            (["record", "true"], "unexpected 'true'"),
            (["record", "--"], "no command after --"),
            (["record", "--all-user", "--all-kernel"], "--all-user does not go with --all-kernel"),
            (["report"], "something is missing"),
            (["report", "a.jfr", "b.jfr"], "unexpected 'b.jfr'"),
            (["report", "a.jfr", "-o", "b.gif"], "'b.gif' does not say a format"),
            (["report", "a.jfr", "-o", "b.jfr"], "does not write jfr"),
            (["attach"], "something is missing"),
            (["attach", "x"], "'x' is not a pid"),
            (["status", "12x"], "'12x' is not a pid"),
            (["list", "x"], "unexpected 'x'"),
            (["doctor", "-z"], "unknown option '-z'"),
            (["help", "nothing"], "there is no help on 'nothing'")):
        message(hostprof(*args, code=None, cwd=temp_dir()), 2, text)


@test
def wrong_pid():
    pid = str(unused_pid())
    for args in (["record", "-p", pid, "-d", "1"], ["attach", pid], ["detach", pid],
                 ["status", pid]):
        message(hostprof(*args, code=None), 1, f"there is no process {pid}")


@test
def pid_of_a_thread():
    burn = native("burn", 20, 2)
    threads = wait_until(lambda: [t for t in os.listdir(f"/proc/{burn.pid}/task")
                                  if t != str(burn.pid)], what="threads of burn")
    message(hostprof("record", "-p", threads[0], "-d", "1", code=None), 1,
            f"{threads[0]} is a thread of process {burn.pid}", f"pid, {burn.pid}")


@test
def not_a_jvm():
    burn = native("burn", 20)
    for command in ("attach", "status"):
        result = hostprof(command, burn.pid, code=None)
        message(result, 1, str(burn.pid))


@test
def no_such_file():
    message(hostprof("report", "/nonexistent.jfr", code=None), 1,
            "cannot open /nonexistent.jfr: No such file or directory")
    message(hostprof("report", "/etc/passwd", code=None), 1, "cannot read /etc/passwd")
    message(hostprof("report", "/tmp", code=None), 1, "cannot read /tmp", "a regular file")
    message(hostprof("report", "/dev/null", code=None), 1, "cannot read /dev/null")
    message(hostprof("report", "a\033[31m", code=None), 1, "cannot open a?[31m: ")
    empty = temp_path("empty.jfr")
    open(empty, "wb").close()
    message(hostprof("report", empty, code=None), 1, empty)


@test
def no_such_cgroup():
    message(hostprof("record", "--cgroup", "no/such", "-d", "1", code=None), 1,
            "there is no cgroup no/such")


@test
def no_such_command():
    out = temp_path("out.jfr")
    result = hostprof("record", "-o", out, "--", "/nonexistent/program", code=None)
    message(result, 1, "/nonexistent/program")
    expect_not_in("recorded until then", result.err, "message about an empty recording")
    expect(not os.path.exists(out), "an empty recording was left behind")


@test
def no_root():
    need_root()
    result = as_nobody("record", "-d", "1", "-o", "out.html")
    message(result, 3, "hint: ", "root")
    out = temp_path("kept.jfr")
    with open(out, "wb") as file:
        file.write(b"precious")
    os.chmod(out, 0o666)
    os.chmod(os.path.dirname(out), 0o777)
    message(as_nobody("record", "-d", "1", "-o", out), 3)
    with open(out, "rb") as file:
        expect_equal(file.read(), b"precious", "the output of a run that was refused")


@test
def no_root_doctor():
    need_root()
    result = as_nobody("doctor")
    expect_equal(result.code, 3, "exit code")
    expect_match(r"^fail +CAP_BPF ", result.out)
    expect_match(r"^ +mend: .*root", result.out)


@test
def missing_capability():
    need_root()
    out = temp_path("out.jfr")
    for drop, named in (("cap_bpf,cap_sys_admin", "CAP_BPF"),
                        ("cap_perfmon,cap_sys_admin", "CAP_PERFMON"),
                        ("cap_bpf,cap_perfmon,cap_sys_admin", "CAP_BPF")):
        result = run(["capsh", f"--drop={drop}", "--", "-c",
                      f"exec {HOSTPROF} record -d 1 -o {out}"])
        message(result, 3, named, "hint: ")
        expect(not os.path.exists(out), "a file was left behind")


@test
def unwritable_output():
    need_root()
    for path, why in (("/nonexistent/dir/out.jfr", "No such file or directory"),
                      ("/nonexistent/dir/out.html", "No such file or directory"),
                      ("/proc/out.jfr", "cannot write /proc/out.jfr"),
                      (temp_dir() + "/.", "does not say a format"),
                      ("/proc/out.html", "cannot write /proc/out.html")):
        begin = time.monotonic()
        result = hostprof("record", "-d", "10", "-o", path, code=None)
        message(result, 2 if why == "does not say a format" else 1, why)
        expect(time.monotonic() - begin < 5, "it recorded although the output cannot be written")
    directory = temp_path("dir.html")
    os.mkdir(directory)
    message(hostprof("record", "-d", "10", "-o", directory, code=None), 1, "Is a directory")
    message(hostprof("record", "-d", "10", "-o", temp_path("x.jfr"), "--stats", "/nonexistent/s",
                     code=None), 1, "cannot write /nonexistent/s")


def small_disk(kilobytes):
    """A file system of that size, unmounted when the test is over."""
    need_root()
    place = temp_dir()
    run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "hostprof-test", place], code=0)
    cleanup(run, ["umount", place])
    return place


@test
def full_disk():
    """The recording fills the disk: a sentence, and what was written can be read."""
    disk = small_disk(96)
    out = os.path.join(disk, "out.jfr")
    burn = native("burn", 60)
    result = hostprof("record", "-p", burn.pid, "-d", "10", "-F", "4999", "-o", out, code=None)
    message(result, 1, "No space left on device", f"what was recorded until then is in {out}")
    expect(os.path.getsize(out) > 0, "nothing was kept")
    lines = collapsed(out)
    expect(total(lines) > 100, f"only {total(lines)} samples in what was kept")


@test
def full_disk_view():
    """No room for the view: a sentence, nothing half-written, the old file as it was."""
    path = record("-d", 1)
    disk = small_disk(16)
    out = os.path.join(disk, "out.html")
    with open(out, "wb") as file:
        file.write(b"old")
    message(hostprof("report", path, "-o", out, code=None), 1, "No space left on device")
    expect_equal(os.listdir(disk), ["out.html"], "files")
    with open(out, "rb") as file:
        expect_equal(file.read(), b"old", "the old page")


@test
def full_device():
    need_root()
    native("burn", 60)  # an idle host has no samples, and no stacks no bytes
    path = record("-d", 1)
    for extra in (["-f", "html"], ["-f", "collapsed"], ["-f", "txt"], ["-f", "svg"]):
        message(hostprof("report", path, "-o", "/dev/full", *extra, code=None), 1,
                "cannot write /dev/full: No space left on device")
    for extra in (["-f", "html"], ["-f", "jfr"]):
        message(hostprof("record", "-d", "1", "-o", "/dev/full", *extra, code=None), 1,
                "cannot write /dev/full: No space left on device")


@test
def output_of_help_is_checked():
    for args in (["--version"], ["help"], ["help", "reasons"], ["report", "--help"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([HOSTPROF, *args], stdout=full, stderr=subprocess.PIPE,
                                    text=True, check=False)
        expect_equal(result.returncode, 1, f"exit code of {args}")
        expect_equal(result.stderr, "hostprof: cannot write standard output: "
                                    "No space left on device\n")


@test
def closed_standard_output():
    """An output never becomes descriptor 1, where it would get the text as well."""
    need_root()
    out, page = temp_path("x.jfr"), temp_path("x.html")
    for args in (["record", "-d", "0.2", "-o", out], ["report", out, "-o", page]):
        run(["sh", "-c", 'exec "$0" "$@" >&-', HOSTPROF, *args], code=0)
    expect(os.path.getsize(page) > 10000, "the page is not whole")
    place = temp_dir()
    message(run(["sh", "-c", 'exec "$0" "$@" >&-', HOSTPROF, "record", "-d", "0.2"], cwd=place), 1,
            "cannot write standard output")
    hostprof("report", os.path.join(place, os.listdir(place)[0]))


@test
@alone
def default_output_and_summary():
    need_root()
    native("burn", 20)
    place = temp_dir()
    result = hostprof("record", "-d", 1, cwd=place)
    names = os.listdir(place)
    expect_equal(len(names), 1, f"files {names}")
    expect_match(r"^hostprof-\d{8}-\d{6}\.jfr$", names[0])
    expect_in("level_t", result.out, "summary")
    expect(len(result.out.splitlines()) <= 24, "the summary does not fit a screen")
    # Above the last line only what there may be to say about this host's JVMs, and programs: tests of hostile ones run meanwhile.
    *above, last = result.err.splitlines()
    told = re.compile(r".*(Java|JVM)|hostprof: warning: (the|compressed) symbols of /tmp/hostprof-test-")
    expect(all(map(told.match, above)), f"stderr {result.err!r}")
    expect_match(rf"^hostprof: {re.escape(names[0])}: [\d,]+ samples, \d+ process(es)?, \d+ JVMs?.*, "
                 r"[\d.]+ % complete stacks, [\d,]+ lost$", last)


@test
def output_formats():
    """The extension says the format, -f overrides it, - is standard output."""
    need_root()
    native("burn", 30)
    place = temp_dir()
    for name, start_bytes in (("a.jfr", b"FLR\0"), ("a.html", b"<!"), ("a.pb.gz", b"\x1f\x8b"),
                              ("a.svg", b"<"), ("a.txt", b"cpu: "), ("a.collapsed", b"")):
        path = os.path.join(place, name)
        hostprof("record", "-d", 1, "-o", path)
        with open(path, "rb") as file:
            data = file.read()
        expect(data.startswith(start_bytes) and data, f"{name} begins with {data[:20]!r}")
    expect_equal(sorted(os.listdir(place)), ["a.collapsed", "a.html", "a.jfr", "a.pb.gz", "a.svg",
                                             "a.txt"], "files")
    lines = parse_collapsed(hostprof("record", "-d", 1, "-f", "collapsed", "-o", "-").out)
    expect(any("level_two" in line.frames for line in lines), "burn is missing")
    piped = run([HOSTPROF, "record", "-d", 1, "-f", "jfr", "-o", "-"], code=0, text=False).out
    expect(piped.startswith(b"FLR\0"), "no recording on standard output")
    hostprof("record", "-d", 1, "-f", "svg", "-o", os.path.join(place, "b.html"))
    with open(os.path.join(place, "b.html"), encoding="utf-8") as file:
        expect_in("<svg", file.read(), "b.html")


@test
def report_equals_record():
    """`record -o x.collapsed` and `record` + `report` of the same run are the same."""
    need_root()
    burn = native("burn", 20)
    path = record("-d", 3, "-p", burn.pid)
    lines = collapsed(path)
    expect(total(lines) > 10, f"{total(lines)} samples")
    expect_equal(hostprof("report", path, "-f", "collapsed").out,
                 hostprof("report", path, "-f", "collapsed", "-o", "-").out)
    out = temp_path("x.collapsed")
    hostprof("report", path, "-o", out)
    with open(out, encoding="utf-8") as file:
        expect_equal(file.read(), hostprof("report", path, "-f", "collapsed").out)
    message(hostprof("report", path, "--event", "nothing", code=None), 1,
            "the recording has no event 'nothing'", "it has: cpu")


@test
def stats_add_up():
    need_root()
    burn = native("burn", 20)
    path, stats = stats_of("-d", 1, "-p", burn.pid)
    expect_equal(stats["samples"], total(collapsed(path)), "samples")
    expect_equal(sum(stats["reasons"].values()), stats["samples"], "sum of the reasons")
    expect_equal(sum(p["samples"] for p in stats["processes"]), stats["samples"], "sum of processes")
    mine = [p for p in stats["processes"] if p["pid"] == burn.pid]
    expect_equal(len(mine), 1, "rows of burn")
    expect_equal(mine[0]["name"], "burn")
    expect_equal(stats["events"][0]["unit"], "nanoseconds")
    expect_between(stats["elapsed_ns"], 0.9e9, 3e9, "elapsed_ns")


@test
def command_exit_status():
    need_root()
    out = temp_path("out.jfr")
    result = hostprof("record", "-o", out, "--", "sh", "-c", "exit 7")
    expect_in("sh ended with exit code 7", result.err)
    expect_in(out, result.err.splitlines()[-1], "last line")


@test
def doctor_json():
    result = hostprof("doctor", "--json", code=None)
    rows = json.loads(result.out)
    for row in rows:
        for key in ("id", "title", "state", "found", "needed", "mend"):
            expect(row[key], f"{row['id']}: no {key}")
        expect_in(row["state"], ("ok", "warn", "fail"))
    failed = [row["id"] for row in rows if row["state"] == "fail"]
    expect_equal(result.code, 3 if failed else 0, f"exit code, failed {failed}")
    ids = [row["id"] for row in rows]
    for wanted in ("kernel", "btf", "cap-bpf", "cap-perfmon", "pmu", "kallsyms", "unwind-tables",
                   "stacks", "jvms"):
        expect_in(wanted, ids)


@test
def list_and_status():
    need_root()
    home = jdk(17)
    jvm = java(home, "Named00", 600)
    rows = [row for row in json_of("list") if row["pid"] == jvm.pid]
    expect_equal(len(rows), 1, "rows of the JVM")
    row = rows[0]
    expect_equal(row["main_class"], "Named00")
    expect_match(r"^17\.", row["version"])
    expect_equal(row["agent"], "none")
    expect_equal(row["can_attach"], True, "can_attach")
    expect_equal(json_of("status", jvm.pid)["main_class"], "Named00")
    expect_match(rf"^{jvm.pid} .* Named00$", hostprof("list").out)
    expect_in("main class: Named00", hostprof("status", jvm.pid).out)


@test
@alone
def attach_and_detach():
    """A recording of the whole host listens to the agent, too: other files may have one."""
    need_root()
    jvm = java(17, "Named00", 600)
    expect_in("agent loaded", hostprof("attach", jvm.pid).err)
    expect_in(json_of("status", jvm.pid)["agent"], ("idle", "active"), "agent")
    expect_in("new options", hostprof("attach", jvm.pid).err)
    expect_in("agent ended", hostprof("detach", jvm.pid).err)
    wait_until(lambda: json_of("status", jvm.pid)["agent"] == "none",
               what="the agent's end")
    message(hostprof("detach", jvm.pid, code=None), 1, f"no agent is loaded in process {jvm.pid}")
    expect(jvm.running(), "the JVM has gone")


@test
def installed_program_finds_its_agent():
    need_root()
    dest = temp_dir()
    environment = dict(os.environ, MAKEFLAGS="")
    run(["make", "-C", ROOT, "install", f"BUILD={BUILD}", f"DESTDIR={dest}", "PREFIX=/usr"],
        env=environment, code=0, timeout=300)
    program = os.path.join(dest, "usr/bin/hostprof")
    agent = os.path.join(dest, "usr/lib/hostprof/libhostprof-agent.so")
    for path in (program, agent):
        expect(os.path.exists(path), f"{path} was not installed")
    jvm = java(17, "Named00", 600)
    run([program, "attach", jvm.pid], code=0)
    with open(f"/proc/{jvm.pid}/maps", encoding="utf-8") as maps:
        expect_in("libhostprof-agent", maps.read(), "mappings of the JVM")
    expect(not os.path.exists(f"/tmp/.attach_pid{jvm.pid}"), "a file of the attach protocol is left over")


main(lanes=2)
