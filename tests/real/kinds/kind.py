# SPDX-License-Identifier: Apache-2.0
"""What `make check-programs` knows of a kind of program.

The script is run by `sh -eu` in a directory of its own while everything that descends from it is recorded. These are
set there: $HERE this directory's parent, $SECS how long the load must last at least; load URL and work CMD… (below) help.
"""
import collections
import os

Kind = collections.namedtuple("Kind", "name who packages make script impossible least nameless named environment")

KINDS = []
PRELUDE = """
# Let a program that has no end work for as long as the recording lasts.
work() { timeout -k 1 "$SECS" "$@" </dev/null >/dev/null 2>&1 || test $? -ge 124; }
# The same; what it leaves in /tmp goes with its number.
work_noted() { work sh -c 'echo $$ >"$DIR/pid"; exec "$@"' sh "$@"; }
again() { end=$(( $(date +%s) + SECS )); while [ "$(date +%s)" -lt "$end" ]; do "$@" </dev/null >/dev/null 2>&1; done; }
wait_for() { n=0; until eval "$1"; do n=$((n + 1)); test "$n" -lt 200; sleep 0.1; done; }
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
"""


def kind(name, who, script, packages="", make="", impossible="", least=0.0, nameless="", named=0.99, environment=None):
    """
    Register one. WHO: a regular expression for its processes' names; PACKAGES: Debian's, by their commands ("lua5.4", or
    "command:package"); MAKE: what is done before the recording; IMPOSSIBLE: why it cannot be whole, of which LEAST is; NAMELESS: why not all
    frames can have names, of which NAMED have.
    """
    KINDS.append(Kind(name, who, packages.split(), make, script, impossible, least, nameless, named, environment or {}))


def command_of(package):
    """The command or file by which a package is known to be there, and the package."""
    command, _, name = package.partition(":")
    return command, name or os.path.basename(command)
