#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Names of stripped programs from a debuginfod: asked for by a process without rights, after the recording, believed only with their build id."""
import ctypes.util

from debug_server import DebugServer
from hp import *


def build_id(path):
    return expect_match(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", path], code=0).out, "readelf -n").group(1)


def stripped_parts():
    """A stripped program and its debug file."""
    if not shutil.which("objcopy"):
        skip("no objcopy")
    if not ctypes.util.find_library("debuginfod"):
        skip("no libdebuginfod")
    whole, directory = os.path.join(WORKLOADS, "parts"), temp_dir()
    bare, debug = os.path.join(directory, "bare"), os.path.join(directory, "parts.debug")
    run(["strip", "-o", bare, whole], code=0)
    run(["objcopy", "--only-keep-debug", whole, debug], code=0)
    return bare, debug


def parts_of(recording, *args, env=None):
    """{name: samples} of the leaves."""
    return parts_in(hostprof("report", recording, "-f", "collapsed", "-o", "-", "--all-user", *args, env=env).out)


def parts_in(text):
    names = collections.Counter()
    for line in parse_collapsed(text):
        if line.process.startswith("bare-"):
            names[line.frames[-1]] += line.count
    return names


def directories():
    return set(glob.glob("/tmp/hostprof-debuginfod-*"))


@test
@alone
def names_come_afterwards():
    need_root()
    bare, debug = stripped_parts()
    server, before = DebugServer({build_id(bare): debug}), directories()
    recording = record("-F", 997, "--", bare, 4, env=server.environment())
    expect_equal(server.asked, [], "questions of a recording, and of a report that was not told to ask")
    nameless = parts_of(recording, env=server.environment())
    expect_equal(server.asked, [], "questions of a report that was not told to ask")
    named = parts_of(recording, "--debuginfod", env=server.environment())
    print(f"# {sum(nameless.values())} samples, {len(nameless)} boxes, with debug data {len(named)}", flush=True)
    expect(not any(name.startswith("part_") for name in nameless), "it has names already")
    parts = {name: count for name, count in named.items() if re.fullmatch(r"part_\d\d(\.cold)?", name)}
    expect_equal(len(parts), 80, "functions by debuginfod")
    expect(sum(parts.values()) > 0.97 * sum(nameless.values()), "samples in them")
    expect_in(f"/buildid/{build_id(bare)}/debuginfo", server.asked, "questions")
    expect(server.askers and all(server.askers), "nobody seems to have asked")
    for uid, rights, no_new in sum(server.askers, []):
        expect(uid != 0 and rights == 0 and no_new == 1, f"who asks is user {uid}, has the rights {rights:#x}, no_new_privs {no_new}")
    wait_until(lambda: directories() <= before, 5, "its directory to go")


@test
@alone
def a_recording_that_ends_in_a_view():
    """What fetches was made before the recording; Ctrl-C of a terminal, which goes to all of a group, ends the recording alone."""
    need_root()
    bare, debug = stripped_parts()
    server, before = DebugServer({build_id(bare): debug}), directories()
    burner, out = start([bare, "60"]), temp_path("out.collapsed")
    recorder = subprocess.Popen([HOSTPROF, "record", "--debuginfod", "--all-user", "-F", "499", "-p", str(burner.pid), "-o", out],
                                env=server.environment(), stderr=subprocess.PIPE, text=True, start_new_session=True)
    cleanup(lambda: recorder.poll() is None and recorder.kill())
    time.sleep(5)
    expect_equal(server.asked, [], "questions before the recording's end")
    os.killpg(recorder.pid, signal.SIGINT)
    text = recorder.communicate(timeout=60)[1]
    expect_equal(recorder.returncode, 0, f"exit code ({text})")
    expect_match(r"debuginfod: \d+ frames named", text)
    with open(out, encoding="utf-8") as file:
        names = parts_in(file.read())
    named = sum(count for name, count in names.items() if re.fullmatch(r"part_\d\d(\.cold)?", name))
    expect(sum(names.values()) > 200 and named > 0.97 * sum(names.values()), f"{named} of {sum(names.values())} samples are named")
    for uid, rights, no_new in sum(server.askers, []):
        expect(uid != 0 and rights == 0 and no_new == 1, f"who asks is user {uid}, has the rights {rights:#x}, no_new_privs {no_new}")
    wait_until(lambda: directories() <= before, 5, "its directory to go")


@test
def another_file_is_not_believed():
    """A server that says what it likes, and one that has nothing."""
    need_root()
    bare, _ = stripped_parts()
    server = DebugServer({build_id(bare): os.path.join(WORKLOADS, "burn")})
    recording = record("-F", 499, "--", bare, 2)
    nameless = parts_of(recording)
    expect_equal(parts_of(recording, "--debuginfod", env=server.environment()), nameless, "names by another program's symbols")
    expect_in(f"/buildid/{build_id(bare)}/debuginfo", server.asked, "questions")
    expect_equal(parts_of(recording, "--debuginfod", env=DebugServer({}).environment()), nameless, "names by nobody")


@test
@alone
def one_that_does_not_answer():
    """It has as long as the user allows (DEBUGINFOD_TIMEOUT), then the view comes without."""
    need_root()
    bare, debug = stripped_parts()
    server, before = DebugServer({build_id(bare): debug}, slow=60), directories()
    recording = record("-F", 499, "--", bare, 2)
    begin = time.monotonic()
    names = parts_of(recording, "--debuginfod", env=server.environment(DEBUGINFOD_TIMEOUT="1", DEBUGINFOD_MAXTIME="2"))
    expect(not any(name.startswith("part_") for name in names), "names from nowhere")
    expect(time.monotonic() - begin < 50, "it was waited for")
    wait_until(lambda: directories() <= before, 5, "its directory to go")


@test
def nobody_to_ask():
    need_root()
    recording = record("-F", 99, "--", "true")
    environment = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    result = hostprof("report", recording, "--debuginfod", code=1, env=environment)
    expect_in("DEBUGINFOD_URLS", result.err, "the message")


main(lanes=2)
