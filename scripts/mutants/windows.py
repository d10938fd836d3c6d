# SPDX-License-Identifier: Apache-2.0
"""Of --begin and --end: when a window is open, what is loaded and opened for it, and what is refused."""
from .mutant import Mutant

WINDOW = "bpf/sample/window.h"
SESSION = "userspace/capture/bpf_session.c"
EVENTS = "userspace/capture/perf_events.c"

OPEN = ["test_window"]
LOADED = ["test_bpf_session", "test_bpf_events"]
OPENED = ["test_perf_events"]

MUTANTS = [
    Mutant("windows: without a begin it is closed", WINDOW, "return !has_begin;", "return false;", OPEN),
    Mutant("windows: who has come to neither is in it", WINDOW, "return !has_begin;", "return true;", OPEN),
    Mutant("windows: another process's", WINDOW, "!known || known->start_ns != start_ns", "!known", OPEN),
    Mutant("windows: it never closes", WINDOW, "return known->is_open;", "return true;", OPEN),
    Mutant("windows: an end without its program", SESSION, "session_want(session, WIRE_TRIGGER_WINDOW_END);", ";", LOADED),
    Mutant("windows: a begin that the program does not know of", SESSION, "skel->rodata->window_has_begin = options->window.begin != NULL;", "", LOADED),
    Mutant("windows: room for all processes where nobody asks", SESSION, "bpf_map__set_max_entries(skel->maps.windows, 1);", ";", LOADED),
    Mutant("windows: an edge is counted", EVENTS, "one->event == PERF_EVENT_EDGE || ", "", OPENED),
    Mutant("windows: an edge is opened twice", EVENTS, "options->window.end, WIRE_TRIGGER_WINDOW_END", "options->window.begin, WIRE_TRIGGER_WINDOW_END", OPENED),
]
