# SPDX-License-Identifier: Apache-2.0
"""What is known of a JVM in a container that runs Chain, and what must be shown of it."""
import gzip

from hp import *

# The first frame of a thread has a name where libc's symbols are installed.
STARTS = ("[thread start]", "clone3", "__clone", "clone")
CHAIN = ("java.lang.Thread.run", "Chain.run", "Chain.first", "Chain.second", "Chain.third")


def check_row(pid, uid, number, name, image):
    """Its row in `hostprof list`: it is the first process of its namespace."""
    row = {row["pid"]: row for row in json_of("list")}.get(pid)
    expect(row, f"{pid} is not listed")
    found = tuple(row[field] for field in ("namespace_pid", "uid", "container", "container_name", "container_image", "main_class"))
    expect_equal(found, (1, uid, number, name, image, "Chain"), "its row")
    expect_equal(row["lacks"], [], "what it lacks")


def check_recording(pid, number, name, image):
    """Three seconds of the whole host: its stacks are whole and named, and labels say whose they are."""
    path = record("-a", "-F", 499, "-d", 3)
    lines = of_pid(collapsed(path), pid)
    worker = [line for line in lines if "Chain.third" in line.frames]
    broken = [line for line in lines if any(frame.startswith("[unwind:") for frame in line.frames)]
    nameless = [line for line in lines if any(frame in ("[JIT]", "[interpreted]", "[evicted]") for frame in line.frames)]
    print(f"# {name}: {total(lines)} samples, {total(worker)} of its work, {total(broken)} not whole, {total(nameless)} without a name",
          flush=True)
    expect(total(worker) > 150, "samples of its work")
    other = next((line.frames for line in worker if line.frames[0] not in STARTS or not in_order(line.frames, *CHAIN)), None)
    expect(other is None, f"a stack has other frames: {';'.join(other or ())}")
    expect(total(broken) + total(nameless) <= 0.002 * total(lines), "stacks that are not whole, or lack names")
    check_labels(path, pid, number, name, image)


def check_labels(path, pid, number, name, image):
    """Id, name and image."""
    profile = temp_path("x.pb.gz")
    hostprof("report", path, "-o", profile)
    with gzip.open(profile) as file:
        raw = file.read()
    for text in ("container_id", number, "container_name", name, "container_image", image):
        expect(text.encode() in raw, f"pprof has no {text}")
    with open(path, "rb") as file:
        recorded = file.read()
    expect(name.encode() in recorded and image.encode() in recorded, "the recording has no name or image")
    expect_match(rf"java-{pid}\b.* in {re.escape(name)}", hostprof("report", path).out, "the text")
