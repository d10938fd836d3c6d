#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of compiled code read from outside are those that the JVM itself tells (jcmd)."""
import random

from hp import *

# 8 has no Compiler.codelist.
VERSIONS = [version for version in JDKS if version >= 11]
CODE_NAMES = os.path.join(BUILD, "tools", "code_names")

# "12 3 0 java.lang.String.hashCode()I [0x…, 0x… - 0x…]": blob's header, code, end.
NMETHOD = re.compile(r"^ *(\d+) +\d+ +-?\d+ +(\S+)\(\S* "
                     r"\[0x([0-9a-f]+), 0x([0-9a-f]+) - 0x([0-9a-f]+)\]", re.MULTILINE)


def code_list(version, pid):
    """(address, compile id) -> method: of each nmethod its first byte of code and one behind it."""
    text = run([os.path.join(jdk(version), "bin", "jcmd"), pid, "Compiler.codelist"], code=0).out
    found = {}
    for number, method, _, code, end in NMETHOD.findall(text):
        code, end = int(code, 16), int(end, 16)
        for address in (code, random.randrange(code, end)):
            found[address, int(number)] = method
    return found


def names_from_outside(pid, wanted):
    """What code_names says of each (address, compile id)."""
    asked = "".join(f"{address:x} {number}\n" for address, number in wanted)
    done = subprocess.run([CODE_NAMES, str(pid)], input=asked.encode(), stdout=subprocess.PIPE,
                          check=True, timeout=60)
    return dict(zip(wanted, done.stdout.decode().splitlines()))


def same_method(text, method):
    """JDK 11 and before: the number of a VM-anonymous class is nowhere in its name."""
    return text in (f"method {method}", f"method {re.sub(r'/0x[0-9a-f]{16}', '', method)}")


def compare(wanted, came):
    """Counts of "right", "wrong", "gone"; the first wrong ones are shown."""
    counts = collections.Counter()
    for key, method in wanted.items():
        if same_method(came[key], method):
            counts["right"] += 1
        elif came[key].startswith("none"):
            counts["gone"] += 1
        else:
            counts["wrong"] += 1
            if counts["wrong"] <= 5:
                print(f"#   {key[0]:x} {key[1]}: {came[key]!r}, the JVM says {method}")
    return counts


@for_each_jdk(VERSIONS)
def names_are_those_of_the_jvm(version):
    """Everything compiled: some thousand methods, lambdas and native wrappers among them."""
    jvm = java(version, "Churn", 600, flags=["-Xcomp", "-Xmx64m"], ready=None)
    jvm.wait_text("ready", timeout=120)
    wanted = code_list(version, jvm.pid)
    came = names_from_outside(jvm.pid, list(wanted))
    counts = compare(wanted, came)
    print(f"# JDK {version}: {counts['right']} right, {counts['gone']} gone, {counts['wrong']} wrong")
    expect(counts["right"] > 1000, f"only {counts['right']} names")
    expect_equal(counts["wrong"], 0, "wrong names")
    expect(counts["gone"] < 0.02 * len(wanted), f"{counts['gone']} of {len(wanted)} are gone")
    other = names_from_outside(jvm.pid, [(address, number + 1) for address, number in wanted])
    named = [text for text in other.values() if not text.startswith("none")]
    expect_equal(named, [], "names of compile ids that are elsewhere")


@for_each_jdk(VERSIONS)
def old_code_has_no_new_name(version):
    """Code comes, goes, and its place is used again: who asks for what was there gets that or none."""
    if version < 17:
        skip("Epochs needs hidden classes")
    jvm = java(version, "Epochs", 600, flags=["-XX:ReservedCodeCacheSize=4m", "-Xmx64m"])
    known, sums = {}, collections.Counter()
    for _ in range(8):
        known.update(code_list(version, jvm.pid))
        sums += compare(known, names_from_outside(jvm.pid, list(known)))
        time.sleep(0.5)
    epochs = {method for method in known.values() if "Epoch_" in method}
    print(f"# JDK {version}: {sums['right']} right, {sums['gone']} gone, {sums['wrong']} wrong; "
          f"{len(epochs)} methods of epochs")
    expect(len(epochs) > 5, f"only {len(epochs)} methods of epochs")
    expect(sums["gone"] > 0, "nothing was thrown away: the test proves nothing")
    expect_equal(sums["wrong"], 0, "wrong names")


main()
