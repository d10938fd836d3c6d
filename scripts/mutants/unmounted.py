# SPDX-License-Identifier: Apache-2.0
"""Of virtual threads that wait when a recording begins, or ends: who is found, how it is read, and for how long it has waited."""
from .mutant import Mutant

BOOKS = "bpf/sample/yields.h"
BOOT = "userspace/jvm/continuation/boot_classes.c"
LAYOUT = "userspace/jvm/continuation/virtual_layout.c"
LIST = "userspace/jvm/continuation/virtual_list.c"
WAITERS = "userspace/jvm/continuation/virtual_waiters.c"
PARKED = "userspace/jvm/continuation/virtual_parked.c"
WALK = "userspace/unwind/walk.c"
UNMOUNTED = "userspace/session/offcpu/unmounted.c"
CAPTURE = "userspace/capture/capture_books.c"
WAIT = "userspace/symbolize/waits/wait.c"
YIELDS = "userspace/session/probes/virtual_yields.c"
SESSION = "userspace/capture/bpf_session.c"

OF_BOOKS = ["test_yields"]
OF_LAYOUT = ["test_virtual_layout"]
OF_LIST = ["test_virtual_list"]
OF_PARKED = ["test_virtual_parked"]
OF_WALK = ["test_walk_chunk"]
OF_END = ["test_pipeline_unmounted"]

MUTANTS = [
    Mutant("unmounted: who was not seen to leave has just left", BOOKS, "*since_ns > sampling_since_ns ? *since_ns : sampling_since_ns", "bpf_ktime_get_ns()", OF_BOOKS),
    Mutant("unmounted: who made room has waited since the begin", BOOKS, "!since_ns || yields_made_room", "!since_ns", OF_BOOKS),
    Mutant("unmounted: who left unseen has waited since the begin", BOOKS, "*since_ns = bpf_ktime_get_ns();", "(void)since_ns;", OF_BOOKS),
    Mutant("unmounted: who leaves after the end changes who had left before", BOOKS, "if (since_ns && sampling)", "if (since_ns)", OF_BOOKS),
    Mutant("unmounted: of who is back in vain nothing is noted", BOOKS, "yield_note(key->use, key->tgid, key->id, &again);", "(void)again;", OF_BOOKS),
    Mutant("unmounted: who was back is inside yet", BOOKS, "yields_count(-1);", "yields_count(0);", OF_BOOKS),
    Mutant("unmounted: who wants a lock may have left before", BOOKS, "if (key->use == WIRE_YIELD_OF_WAIT)\n", "if (true)\n", OF_BOOKS),
    Mutant("unmounted: there is room for all", SESSION, "if (entries / 2 > held)", "if (false)", ["test_bpf_events"]),
    Mutant("unmounted: at the end nobody was noted", SESSION, "if (session->runs) {", "bss->sampling_since_ns = since_ns;\n\tif (session->runs) {", ["test_bpf_session"]),
    Mutant("unmounted: the first class alone", BOOT, "r = read_word(pages, klass + o.next, &klass);", "klass = 0;", OF_LAYOUT),
    Mutant("unmounted: JDK 23's arrays are older ones", LAYOUT, "if (release >= 23)\n", "if (release >= 99)\n", OF_LAYOUT),
    Mutant("unmounted: references of 8 bytes are not aligned", LAYOUT, "behind : (behind + 7) & ~7U", "behind : behind", OF_LAYOUT),
    Mutant("unmounted: moved nodes are threads", LIST, "sizeof(int32_t)) < 0)", "sizeof(int32_t)) < INT32_MIN)", OF_LIST),
    Mutant("unmounted: who shares a place is not seen", LIST, "if (follows)\n", "if (false)\n", OF_LIST),
    Mutant("unmounted: a list without an end", LIST, "if (nodes->at.len > MAX_THREADS || keys->at.len > MAX_THREADS)", "if (nodes->at.len > 100 * MAX_THREADS)", OF_LIST),
    Mutant("unmounted: anything is an executor", LIST, "if (!r && (word & of->word.mask) != of->word.value)", "if (false)", OF_LIST),
    Mutant("unmounted: a part is the first one", LIST, "!(virtual_list_draw(place, list->draw) & ((1U << list->shift) - 1))", "place % 2 == 0", OF_LIST),
    Mutant("unmounted: who runs waits", WAITERS, "virtual_reference(l, object, l->carrier))", "!address)", OF_PARKED),
    Mutant("unmounted: who is suspended runs", WAITERS, "#define STATE_MASK	   0xff", "#define STATE_MASK	   0xffff", OF_PARKED),
    Mutant("unmounted: any object is a thread", WAITERS, "(word & l->of_thread.mask) != l->of_thread.value ||", "word == 1 ||", OF_PARKED),
    Mutant("unmounted: a list of a heap that moved", WAITERS, "if (!error && after != waiters->pauses)", "if (false)", OF_PARKED),
    Mutant("unmounted: frames of a heap that moved", PARKED, "return !error && pauses != r->waiters.pauses ? -EAGAIN : error;", "return error;", OF_PARKED),
    Mutant("unmounted: who went on is told", PARKED, "		return -ESRCH;\n	j->parked.id = now.id;", "		j->result = 0;\n	j->parked.id = j->waiter->id;", OF_PARKED),
    Mutant("unmounted: any object is a chunk", PARKED, "(virtual_field(fields, c->klass_at, 8) & c->klass_mask) != c->klass", "false", OF_PARKED),
    Mutant("unmounted: all of a deep stack", PARKED, "MIN(8 * (bottom - sp + 2), (uint32_t)MAX_FRAME_BYTES)", "8 * (bottom - sp + 2)", OF_PARKED),
    Mutant("unmounted: a chunk's fields are believed", PARKED, "size > MAX_WORDS || sp > size || bottom > size || ", "", OF_PARKED),
    Mutant("unmounted: one without memory hides the others", PARKED, "if (count == 1) {", "if (count) {", OF_PARKED),
    Mutant("unmounted: those who went on are counted for the others", PARKED, "			list->unread++;\n			continue;", "			continue;", OF_PARKED),
    Mutant("unmounted: always the same ones", PARKED, "waiter.place = virtual_list_draw(waiter.id, r->draw);", "waiter.place = (uint32_t)waiter.id;", OF_PARKED),
    Mutant("unmounted: no more than is wanted, however many bytes", PARKED, "if (list->bytes > r->wanted->bytes)", "if (false)", OF_PARKED),
    Mutant("unmounted: the walk goes on at a stack", WALK, "if (walk->is_chunk && verdict == UNWIND_GO_ON && !c->frozen_at.inside)", "if (false)", OF_WALK),
    Mutant("unmounted: what is no chunk is walked", WALK, "if (walk->is_chunk && !frozen)", "if (false)", OF_WALK),
    Mutant("unmounted: who is back has waited to the end", UNMOUNTED, "known.begin_ns != wait->begin_ns || ", "", OF_END),
    Mutant("unmounted: each stands for itself", UNMOUNTED, "(double)known->owed_ns) * wait->stands_for;", "(double)known->owed_ns);", OF_END),
    Mutant("unmounted: what is owed is forgotten", UNMOUNTED, "(double)length_ns + (double)known->owed_ns", "(double)length_ns", OF_END),
    Mutant("unmounted: a weight beyond all numbers", UNMOUNTED, "(uint64_t)MIN(weight_ns, MOST_WEIGHT)", "(uint64_t)weight_ns", OF_END),
    Mutant("unmounted: short ones are told, too", UNMOUNTED, " || end_ns < wait->begin_ns + least_ns", "", OF_END),
    Mutant("unmounted: nobody else is followed", CAPTURE, "*ret_ns = MAX(since_ns, own_ns);", "*ret_ns = since_ns;", ["test_capture_parked"]),
    Mutant("unmounted: who may be back is counted", CAPTURE, "ret_wait->is_counted = !yield.was_back;", "ret_wait->is_counted = true;", ["test_capture_parked"]),
    Mutant("unmounted: nobody knows how it left", WAIT, "if (of == WIRE_CAUSE_NONE)\n\t\tof = unmounted_way(p, &stack);", "(void)unmounted_way;", ["test_wait"]),
    Mutant("unmounted: lost frames wanted a monitor", WAIT, " || (frame->kind == FRAME_MARK && !has_java)", "", ["test_wait"]),
    Mutant("unmounted: a JVM that does not know yet is asked", YIELDS, "at->is_known && !at->process->exited", "!at->process->exited", ["test_lock_parks"]),
]
