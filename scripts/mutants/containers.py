# SPDX-License-Identifier: Apache-2.0
"""Of the names and images of containers."""
from .mutant import Mutant

NAMES = "userspace/process/container_names.c"

TESTS = ["test_container_names"]

MUTANTS = [
    Mutant("containers: the first of the list", NAMES, "if (!is_of(element, id))\n\t\t\tcontinue;", ";", TESTS),
    Mutant("containers: docker's names keep their slash", NAMES, "if (about->name[0] == '/')", "if (0)", TESTS),
    Mutant("containers: asked for each time", NAMES, "if (lru_get(&names->known, hash, &known))", "if (0)", TESTS),
    Mutant("containers: all are known for ever", NAMES, "lru_init(&names->known, CONTAINER_NAMES_BYTES,", "lru_init(&names->known, 64 << 20,", TESTS),
    Mutant("containers: podman's images are not looked for", NAMES, "take_string(metadata, image, about->image, sizeof(about->image));", ";", TESTS),
    Mutant("containers: what is behind a missing key", NAMES, "json_is_string(value)", "value", TESTS),
    Mutant("containers: names of its own are looked over", NAMES, "if (!about->name[0])\n\t\ttake_string(metadata", "take_string(metadata", TESTS),
]
