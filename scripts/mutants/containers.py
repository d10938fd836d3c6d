# SPDX-License-Identifier: Apache-2.0
"""Of the names and images of containers."""
from .mutant import Mutant

NAMES = "userspace/process/container_names.c"
SCAN = "userspace/process/json_scan.c"

TESTS = ["test_container_names"]

MUTANTS = [
    Mutant("containers: the first of the list", NAMES, "if (!is_of(scan, id))\n\t\t\tcontinue;", ";", TESTS),
    Mutant("containers: docker's names keep their slash", NAMES, "if (about->name[0] == '/')", "if (0)", TESTS),
    Mutant("containers: asked for each time", NAMES, "if (about)\n\t\treturn about;", ";", TESTS),
    Mutant("containers: podman's images are not looked for", NAMES, "take_string(element, image, about->image, sizeof(about->image));", ";", TESTS),
    Mutant("json: a quotation mark ends it though it is escaped", SCAN, "if (*s->at == '\\\\')\n\t\t\ts->at++;", ";", TESTS),
    Mutant("json: brackets in strings count", SCAN, "if (*s->at == '\"') {\n\t\t\tif (!skip_string(s))\n\t\t\t\treturn false;\n\t\t} else if", "if", TESTS),
    Mutant("json: a key by its beginning", SCAN, "(size_t)(to->at - from->at) == len + 2 &&", "", TESTS),
    Mutant("json: half a pair is a letter", SCAN, "code >= 0xd800 && code < 0xe000", "0", TESTS),
]
