# SPDX-License-Identifier: Apache-2.0
"""The harness of the root tests.

A test file registers functions and ends with main():

    from hp import *

    @test
    def burns_as_much_as_its_clock_says():
        burn = native("burn", 5)
        path = record("-p", burn.pid, "-d", 2)
        lines = collapsed(path)
        expect(any("level_three" in line.frames for line in lines), "level_three is missing")

    main()

Each test prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why`; the last line has the sums. Run one
alone with `tests/root/test_x.py NAME`, list them with `--list`. Everything that a test starts is
ended when it is over, also when it failed. A process that ends unasked, by a signal or with an exit
code that the test did not expect, fails the test, and so does the crash of any JVM. The build
directory comes from HOSTPROF_BUILD.

Tests of a file that ends with main(lanes=N) run N at once, each in a process of its own, but those that
say @alone: where most of the time is waiting. What one leaves in a variable the others don't see.

A file with the line "# Runs beside others." is run in a whole check while other files are: its tests judge what programs of their own
do, and neither count nor measure. One with "# Runs first." is what they would disturb most. One with "# Needs no root." records nothing. A test that says @slow is left out there.

In a whole check (scripts/check.sh) a test that fails is tried once more, since a busy machine may
upset a measurement. Both tries are shown, who passed only then is counted in a line before the sums,
and the check fails when these are more than two in a hundred.
"""
import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from hp_clocks import *
from hp_deaths import *
from hp_expect import *
from hp_java import *
from hp_lines import *
from hp_process import *
from hp_run import *
