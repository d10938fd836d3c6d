#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Needs no root.
"""The harness itself: what fails, dies, is skipped or needs a second try shows in the sums."""
from hp import *

HEAD = "#!/usr/bin/env python3\nfrom hp import *\n"
CRASH = "['sh', '-c', 'kill -SEGV $$']"
# The first time it is run in DIRECTORY it fails.
ONCE = """
@test
def once():
    marks = {directory!r} + "/tries"
    with open(marks, "a") as file:
        file.write("x")
    expect(os.path.getsize(marks) > 1, "the first time")
"""
GOOD = """
@test
def good_{n}():
    pass
"""


def body(*lines):
    """A test of these lines."""
    return "\n@test\ndef tried():\n" + "".join(f"    {line}\n" for line in lines)


def tree(tests, more=()):
    """A place like this repository's with one file of root tests, or more; returns its path."""
    place = temp_dir()
    root = os.path.join(place, "tests", "root")
    os.makedirs(root)
    os.makedirs(os.path.join(place, "build", "tests"))
    os.makedirs(os.path.join(place, "scripts"))
    os.makedirs(os.path.join(place, "tmp"))
    shutil.copy(os.path.join(ROOT, "scripts", "check.sh"), os.path.join(place, "scripts"))
    for path in glob.glob(os.path.join(ROOT, "tests", "root", "hp*.py")):
        shutil.copy(path, root)
    for number, text in enumerate([tests, *more]):
        with open(os.path.join(root, f"test_{number}.py"), "w", encoding="utf-8") as file:
            file.write(f"{HEAD}# Needs no root.\n{text.format(directory=place)}\nmain()\n")
    return place


def run_file(tests, retry=False):
    """One file of tests, run alone; where it may not retry unless RETRY."""
    place = tree(tests)
    env = {**os.environ, "HOSTPROF_RETRY": "1" if retry else "", "TMPDIR": f"{place}/tmp"}
    return run([sys.executable, "-B", f"{place}/tests/root/test_0.py"], env=env, cwd=place)


def run_check(tests, more=()):
    place = tree(tests, more)
    return run([os.path.join(place, "scripts", "check.sh"), "rootless", "root"],
               env={**os.environ, "BUILD": os.path.join(place, "build")})


def expect_sums(result, sums, code):
    """The last line and the exit code."""
    expect_equal((result.out.splitlines()[-1], result.code), (sums, code), f"the end of {result.out}")


@test
def passing_failing_and_skipping():
    came = run_file(GOOD.format(n=1) + "@test\ndef bad():\n    expect_equal(1, 2)\n"
                    "@test\ndef odd():\n    {}['x']\n".replace("{}", "{{}}") +
                    "@test\ndef left():\n    skip('no reason')\n")
    expect_sums(came, "1 passed, 2 failed, 1 skipped", 1)
    expect_match(r"^FAIL bad: test_0.py:\d+: value: expected 2, came 1$", came.out)
    expect_match(r"^FAIL odd: test_0.py:\d+: KeyError", came.out)
    expect_match(r"^skip left: no reason$", came.out)


@test
def alone_there_is_no_second_try():
    came = run_file(ONCE)
    expect_sums(came, "0 passed, 1 failed, 0 skipped", 1)


@test
def a_second_try_is_counted_and_shown():
    came = run_file(ONCE + GOOD.format(n=1), retry=True)
    expect_sums(came, "2 passed, 0 failed, 0 skipped", 0)
    expect_equal(came.out.splitlines()[-2], "1 passed on retry")
    expect_match(r"^FAIL once: .*the first time$", came.out)
    expect_match(r"^ok once", came.out)


@test
def what_fails_twice_has_failed():
    came = run_file(body("expect(False, 'never')"), retry=True)
    expect_sums(came, "0 passed, 1 failed, 0 skipped", 1)
    expect_equal(len(re.findall("^FAIL tried", came.out, re.MULTILINE)), 2, "tries")


def dies(*lines):
    """A test that passes, but for a death: it fails, and is not tried again."""
    came = run_file(body(*lines), retry=True)
    expect_sums(came, "0 passed, 1 failed, 0 skipped", 1)
    expect_match(r"^FAIL tried: passed, but a process died unasked$", came.out)
    return came.out


def lives(*lines):
    expect_sums(run_file(body(*lines)), "1 passed, 0 failed, 0 skipped", 0)


@test
def a_process_that_ends_unasked():
    out = dies("child = start(['sh', '-c', 'echo last words; exit 3'])", "child.popen.wait()")
    expect_in("ended with 3 unasked", out)
    expect_in("# last words", out)
    dies(f"start({CRASH}).popen.wait()")


@test
def a_process_that_ends_as_it_was_asked():
    lives("start(['sh', '-c', 'exit 3']).finish(code=3)", "start(['false']).finish(code=None)",
          "child = start(['sleep', '60'])", "child.signal(signal.SIGKILL)", "child.popen.wait()",
          "start(['sleep', '60']).stop()", "start(['sleep', '60'])", "start(['true']).popen.wait()")


@test
def a_crash_when_it_is_ended():
    """The agent's last moment is the JVM's: one that is told to end must not crash then."""
    trap = "['sh', '-c', 'trap \"kill -ABRT $$\" TERM; echo ready; while :; do sleep 0.1; done']"
    dies(f"start({trap}).wait_text('ready')")
    dies(f"start({trap}).wait_text('ready').stop()")


@test
def a_crash_that_no_exit_code_excuses():
    dies(f"run({CRASH})")
    dies(f"start({CRASH}).finish(code=None)")
    dies("run(['sh', '-c', 'sh -c \"kill -BUS \\$\\$\"; exit $?'], code=None)")
    # The same, when the crash is what the test is about.
    lives(f"run({CRASH}, code=-11)")


@test
def a_failed_test_with_a_death_stands():
    came = run_file(body("start(['false']).popen.wait()", "expect(False, 'why')"), retry=True)
    expect_sums(came, "0 passed, 1 failed, 0 skipped", 1)
    expect_equal(len(re.findall("^FAIL tried: test_0.py.*why", came.out, re.MULTILINE)), 1, "tries")
    expect_in("false ended with 1 unasked", came.out)


@test
def a_skipped_test_with_a_death_fails():
    came = run_file(body("start(['false']).popen.wait()", "skip('nothing to say')"))
    expect_sums(came, "0 passed, 1 failed, 0 skipped", 1)


@test
def reports_of_crashes():
    """Of whichever JVM, wherever it runs."""
    for where in ("temp_dir() + '/below'", "os.getcwd()", "tempfile.gettempdir()"):
        out = dies("import atexit, tempfile", f"path = {where} + '/hs_err_pid4194999.log'",
                   "os.makedirs(os.path.dirname(path), exist_ok=True)",
                   "open(path, 'w').write('SIGSEGV at')",
                   "atexit.register(lambda: os.path.exists(path) and os.unlink(path))")
        expect_match(r"^# a JVM crashed: .*hs_err_pid4194999.log$", out)
        expect_in("# SIGSEGV at", out)


# Passes only beside another of its kind; what it says comes in one piece.
MEETS = """
@test
def meets_{n}():
    print("# {n} begins")
    open("{n}", "w").close()
    wait_until(lambda: os.path.exists("{other}"), 2, "the other")
    print("# {n} ends")
"""


@test
def lanes_run_beside_each_other():
    came = run_file(MEETS.format(n=1, other=2) + MEETS.format(n=2, other=1) + "main(lanes=2)")
    expect_sums(came, "2 passed, 0 failed, 0 skipped", 0)
    for n in (1, 2):
        expect_in(f"# {n} begins\n# {n} ends\nok meets_{n}", came.out)


@test
def alone_means_alone():
    came = run_file(MEETS.format(n=1, other=2) + MEETS.format(n=2, other=1).replace("\ndef", "\n@alone\ndef") +
                    "main(lanes=2)")
    expect_sums(came, "1 passed, 1 failed, 0 skipped", 1)
    expect_match("^FAIL meets_1: .*the other", came.out)


@test
def what_happens_in_a_lane_counts():
    tests = [GOOD.format(n=1), ONCE, body("skip('why')"), body(f"run({CRASH})").replace("tried", "crashed"),
             body("os.kill(os.getpid(), signal.SIGKILL)").replace("tried", "killed")]
    came = run_file("".join(tests) + "main(lanes=3)", retry=True)
    expect_match("^FAIL crashed: passed, but a process died unasked$", came.out)
    expect_match("^FAIL killed: its process ended with -9$", came.out)
    expect_sums(came, "2 passed, 2 failed, 1 skipped", 1)


@test
def lanes_end_when_they_are_asked():
    place = tree(body("start(['sleep', '60'])", "open('pid', 'w').write(str(os.getpid()))", "time.sleep(60)") +
                 GOOD.format(n=1) + "main(lanes=2)")
    process = start([sys.executable, "-B", f"{place}/tests/root/test_0.py"], cwd=place)
    wait_until(lambda: os.path.exists(f"{place}/pid"), 60, "the lane")
    lane = int(open(f"{place}/pid", encoding="ascii").read() or "0")
    below_it = family(lane)
    process.signal(signal.SIGTERM)
    process.finish(code=143)
    expect(not any(os.path.exists(f"/proc/{pid}") for pid in below_it), f"{below_it} have ended")


@test
def the_sums_of_a_check():
    came = run_check("".join(GOOD.format(n=n) for n in range(150)) + ONCE, [body("skip('why')")])
    expect_sums(came, "151 passed, 0 failed, 1 skipped", 0)
    expect_equal(came.out.splitlines()[-2], "1 passed on retry")


@test
def a_check_with_too_many_second_tries():
    came = run_check("".join(GOOD.format(n=n) for n in range(48)) + ONCE)
    expect_sums(came, "48 passed, 1 failed, 0 skipped", 1)
    expect_in("1 passed on retry", came.out)


UNIT_ONCE = """#!/bin/sh
if [ -e {place}/tried ]; then
	echo '[  PASSED  ] 1 test(s).'
else
	touch {place}/tried
	printf '[  FAILED  ] odd\\n[  PASSED  ] 0 test(s).\\n[  FAILED  ] 1 test(s), listed below:\\n'
	exit 1
fi
"""


@test
def a_unit_test_that_fails_once():
    place = tree("")
    path = os.path.join(place, "build", "tests", "test_unit")
    with open(path, "w", encoding="ascii") as file:
        file.write(UNIT_ONCE.format(place=place))
    os.chmod(path, 0o755)
    came = run([os.path.join(place, "scripts", "check.sh"), "unit"],
               env={**os.environ, "BUILD": os.path.join(place, "build"), "MAKE_UNIT_TESTS": ""})
    expect_sums(came, "1 passed, 0 failed, 0 skipped", 0)
    expect_in("test_unit: [  FAILED  ] odd", came.out, "what failed")
    expect_in("# test_unit: a second try", came.out)


@test
def a_file_that_does_not_come_to_its_end():
    came = run_check(GOOD.format(n=1) + body("os._exit(0)") + GOOD.format(n=2), [GOOD.format(n=1)])
    expect_sums(came, "1 passed, 3 failed, 0 skipped", 1)


@test
def a_file_that_python_refuses():
    came = run_check("syntax error", [GOOD.format(n=1)])
    expect_sums(came, "1 passed, 1 failed, 0 skipped", 1)


main()
