# SPDX-License-Identifier: Apache-2.0
"""Of -e malloc: which calls are sampled, whose functions are probed, what counts once, and what was not given back."""
from .mutant import Mutant

CALL = "bpf/sample/malloc_call.h"
DRAW = "bpf/sample/draw.h"
FUNCTIONS = "userspace/session/malloc/malloc_functions.c"
FILES = "userspace/session/malloc/malloc_files.c"
NESTED = "userspace/session/malloc/malloc_nested.c"
KEPT = "userspace/session/malloc/malloc_kept.c"
OBJECTS = "userspace/session/alloc/live_objects.c"
EVENT = "userspace/capture/event.c"
PLACES = "userspace/capture/probes/capture_places.c"

CALLED = ["test_malloc_call"]
KNOWN = ["test_malloc_files"]
LEFT = ["test_malloc_kept"]

SESSION = "userspace/capture/bpf_session.c"
ENTRY = "userspace/elf/infer/infer_entry.c"
RETURNS = "userspace/capture/probes/uprobe_returns.c"

MUTANTS = [
    Mutant("malloc: calloc() asks for one", CALL, "return count * size;", "return size;", CALLED),
    Mutant("malloc: what overflows is memory", CALL, "(count && size > WIRE_MALLOC_MOST_BYTES / count)", "0", CALLED),
    Mutant("malloc: more than there can be is memory", CALL, "return size < WIRE_MALLOC_MOST_BYTES ? size : 0;", "return size;", CALLED),
    Mutant("malloc: files are memory", CALL, "flags & MALLOC_MAP_ANONYMOUS && ", "", CALLED),
    Mutant("malloc: what is reserved is memory", CALL, "(protection || !(flags & MALLOC_MAP_NORESERVE))", "1", CALLED),
    Mutant("malloc: stacks of threads are an allocator's", CALL, "!(call->arguments[3] & MALLOC_MAP_STACK)", "1", CALLED),
    Mutant("malloc: a jump is a call", CALL, "bool same = book->sp == call->sp", "bool same = 0 && book->sp == call->sp", CALLED),
    Mutant("malloc: a loop is a jump", CALL, "book->ip != call->ip &&", "", CALLED),
    Mutant("malloc: the next line is a jump", CALL, "(book->back == call->back || call->back == trampoline)", "1", CALLED),
    Mutant("malloc: another size is a jump", CALL, "book->size == size && ", "", CALLED),
    Mutant("malloc: of two jumps one is none", CALL, "if (same)\n\t\treturn true;\n\tbook->ip", "book->ip", CALLED),
    Mutant("malloc: bytes that went by do not count", CALL, "book->left -= size;", "", CALLED),
    Mutant("malloc: the interval of now counts", CALL, "by = book->interval;", "by = interval;", CALLED),
    Mutant("malloc: nothing is drawn anew", CALL, "\tmalloc_draw(book, interval, random_next);\n", "", CALLED),
    Mutant("malloc: distances are all alike", DRAW, "interval * nats >> DRAW_LOG_BITS", "interval", CALLED),
    Mutant("malloc: the logarithm has whole numbers", DRAW, "part |= 1;", "part |= 0;", CALLED),
    Mutant("malloc: of base 2", DRAW, "log * DRAW_LN_2 >> DRAW_LOG_BITS", "log", CALLED),
    Mutant("malloc: any library is one", FUNCTIONS, "MALLOC_ALLOCATOR : MALLOC_NONE", "MALLOC_ALLOCATOR : MALLOC_LIBC", KNOWN),
    Mutant("malloc: programs have none", FUNCTIONS, "return MALLOC_PROGRAM;", "return MALLOC_NONE;", KNOWN),
    Mutant("malloc: data are code", FILES, "elf_segment_find(segments, count, PF_X, functions[i].address)",
           "elf_segment_find(segments, count, ELF_SEGMENT_ANY, functions[i].address)", KNOWN),
    Mutant("malloc: two names are two places", FILES, "if (has_offset(file, place.offset))", "if (0)", KNOWN),
    Mutant("malloc: a file's own functions are everybody's", FILES, "found->rank >= ELF_RANK_SHARED || ", "found->rank || ", KNOWN),
    Mutant("malloc: who frees gives", FILES, "place->form != WIRE_MALLOC_FREE && offset", "offset", KNOWN),
    Mutant("malloc: a free() is memory", FILES, "if (!gives)\n\t\tfile->places.len = 0;", "", KNOWN),
    Mutant("malloc: what has none is read again", FILES, "hmap_put(&all->without, exact, 1);", "", KNOWN),
    Mutant("malloc: an inode is the same for ever", FILES, "hash_key(&m->key, m->key.generation)", "hash_key(&m->key, 0)", KNOWN),
    Mutant("malloc: calls of one another count", NESTED, "return caller->gives || ", "return ", KNOWN),
    Mutant("malloc: an allocator's calls count", NESTED, "caller->file->kind == MALLOC_ALLOCATOR ||", "", KNOWN),
    Mutant("malloc: an allocator's pages count", NESTED, "(first && pages && caller->file->kind == MALLOC_LIBC)", "0", KNOWN),
    Mutant("malloc: a C library's calls never count", NESTED, "(first && pages && caller", "(first && caller", KNOWN),
    Mutant("malloc: Java is a caller like others", NESTED, "if (word.kind != WIRE_FRAME_CODE)\n\t\t\treturn false;", "", KNOWN),
    Mutant("kept: what was freed is told", OBJECTS, "if (hmap_get(kept, object->id, &value))\n\t\t\t\tadd_sample(", "if (1)\n\t\t\t\tadd_sample(", LEFT),
    Mutant("kept: all is as old", OBJECTS, "(uint32_t)(age_ns / NSEC_PER_SEC)", "0", LEFT),
    Mutant("kept: who has nothing left is known for ever", OBJECTS, "if (owner->objects.len)\n\t\t\tcontinue;", "if (1)\n\t\t\tcontinue;", LEFT),
    Mutant("kept: what was freed stays", OBJECTS, "if (object->time_ns < before_ns && !hmap_get", "if (0 && !hmap_get", LEFT),
    Mutant("kept: what is young goes", KEPT, "live_objects_retain(&kept->objects, &ids, now_ns - YOUNG_NS);", "live_objects_retain(&kept->objects, &ids, now_ns);", LEFT),
    Mutant("kept: what nobody knows stays", KEPT, "(!is_young(id, now_ns) && !hmap_get(&ours, id, &value))", "0", LEFT),
    Mutant("kept: a crowd is none", KEPT, "known.ids.len > CROWDED &&", "0 &&", LEFT),
    Mutant("kept: always", KEPT, "if (!kept->is_on || now_ns", "if (now_ns", LEFT),
    Mutant("places: of a process are of all", PLACES, ".form = place->form,\n\t\t\t\t   .pid = place->pid,", ".form = place->form,\n\t\t\t\t   .pid = 0,", ["test_capture_places"]),
    Mutant("places: a return is its function's entry", PLACES, "&& known->trigger == probe->trigger", "", ["test_capture_places"]),
    Mutant("each call is refused", EVENT, "(kind->may_be_0 && !event->period)", "0", ["test_event"]),
    Mutant("malloc: exceptions leave what is probed", CALL, "return call->form != WIRE_MALLOC_NEW;", "return true;", CALLED),
    Mutant("malloc: who is deeper has left", CALL, "if (p->id && p->sp > call->sp)", "if (p->id)", CALLED),
    Mutant("malloc: any return is one", CALL, "book->pending[i].sp + sizeof(wire_u64) == sp", "1", CALLED),
    Mutant("malloc: the interval is what it was", CALL, "interval << (pace->doubled", "interval << (0 * pace->doubled", CALLED),
    Mutant("malloc: realloc() takes nothing", CALL, "\tcase WIRE_MALLOC_AGAIN:\n\tcase WIRE_MALLOC_REMAP: return call->arguments[0];", "\tcase WIRE_MALLOC_REMAP: return call->arguments[0];", CALLED),
    Mutant("malloc: every operator is an allocator's", FILES, "&& !allocator", "&& 0", KNOWN),
    Mutant("malloc: no operator is", FILES, "&& !allocator", "", KNOWN),
    Mutant("kept: an id has all of its time", KEPT, "(age_ns & (UINT64_MAX >> WIRE_MALLOC_ID_SHIFT))", "age_ns", LEFT),
    Mutant("kept: what is of now is old", KEPT, "now_ns + YOUNG_NS - (id", "now_ns - (id", LEFT),
    Mutant("kept: what was not read is gone", KEPT, "if (capture_get_kept(capture, &known) == 0) {", "if (capture_get_kept(capture, &known) <= 0) {", LEFT),
    Mutant("kept: all was read", KEPT, "kept->unread = capture_get_kept(capture, &known) < 0;", "(void)capture_get_kept(capture, &known);", LEFT),
    Mutant("sessions: returns have a program, too", SESSION, "return !one && returns;", "return options->follow_memory;", ["test_bpf_session", "test_bpf_events"]),
    Mutant("sessions: of any kind", SESSION, "(enum bpf_attach_type)UPROBE_SESSION_ATTACH_TYPE", "(enum bpf_attach_type)0", ["test_bpf_session", "test_bpf_events"]),
    Mutant("sessions: a file's functions are another's", PLACES, "cookies[i] = WIRE_PLACE_COOKIE(event, functions[i].form);", "cookies[i] = event;", ["test_capture_places"]),
    Mutant("sessions: any number", PLACES, "if (count > CAPTURE_MAX_FUNCTIONS)", "if (0)", ["test_capture_places"]),
    Mutant("returns: every kernel calls", RETURNS, "major > 6 || (major == 6 && minor >= 11)", "true", ["test_uprobe_returns"]),
    Mutant("probes: at the entry only", ENTRY, "is_reached_again(code, insn->at) ? 0 : insn->at", "0", ["test_infer_entry"]),
    Mutant("probes: in a loop", ENTRY, "is_reached_again(code, insn->at) ? 0 : insn->at", "insn->at", ["test_infer_entry"]),
    Mutant("probes: arguments may change", ENTRY, "if (!is_harmless(insn))", "if (0)", ["test_infer_entry"]),
    Mutant("probes: any push", ENTRY, "(at[0] == 0x41 && (at[1] & 0xf8) == 0x50)", "(at[1] & 0xf8) == 0x50", ["test_infer_entry"]),
    Mutant("probes: far away", ENTRY, "if (insn->at > INFER_ENTRY_FAR)", "if (0)", ["test_infer_entry"]),
    Mutant("probes: returns that nobody wants are probed", "userspace/session/malloc/malloc_probes.c", "	if (probes->frees)\n\t\tat.trigger", "	if (1)\n\t\tat.trigger", ["test_malloc_probes"]),
    Mutant("probes: a session that sees calls only", "userspace/capture/probes/capture_places.c", ".is_multi = file->trigger == WIRE_TRIGGER_MALLOC,", "", ["test_capture_places"]),
    Mutant("probes: a file that could not be opened once is none", "userspace/session/malloc/malloc_probes.c", "file->probed = fd >= 0;", "file->probed = true;", ["test_malloc_probes"]),
    Mutant("probes: again what could not be probed", "userspace/session/malloc/malloc_probes.c", "file->probed = fd >= 0;", "", ["test_malloc_probes"]),
    Mutant("probes: what a reader says", FILES, "function->probe <= INFER_ENTRY_FAR && ", "", KNOWN),
]
