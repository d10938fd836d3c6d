# SPDX-License-Identifier: Apache-2.0
"""Of what comes with a miss of a virtual thread's frames in the heap, of methods that are read after it, and of layouts that are learnt before the first sample."""
from .mutant import Mutant

CHECK = "userspace/capture/rings/miss_check.c"
STACK = "userspace/unwind/unwind_stack.c"
FROZEN = "bpf/hotspot/frozen.h"
BOOKS = "userspace/session/pipeline_books.c"
SPACES = "userspace/unwind/unwind_spaces.c"
UNWINDER = "userspace/unwind/unwinder.c"

CHECKED = ["test_miss_check"]
READS = ["test_unwind_stack"]
WALKS = ["test_frozen"]
LEARNS = ["test_pipeline_learn"]
SPACES_TURN = ["test_unwind_spaces_turn"]
NEWS = ["test_unwinder_news"]

MUTANTS = [
    Mutant("thread list: one that was replaced meanwhile is believed", "userspace/jvm/heap/java_threads.c", "if (!r && before == after)", "if (!r)", ["test_java_threads"]),
    Mutant("thread list: it is read once", "userspace/jvm/heap/java_threads.c", "i < MAX_LISTS", "i < 1", ["test_java_threads"]),
    Mutant("late: methods are never marked", "userspace/unwind/unwinder.c", "words[0] |= WIRE_FRAME_LATE;", ";", ["test_unwinder_late"]),
    Mutant("late: at once is late", "userspace/unwind/unwinder.c", " || clock_now_ns() - job->miss->time_ns < PROMPT_NS)", ")", ["test_unwinder_late"]),
    Mutant("late: pages of the walk are looked at", "userspace/unwind/unwinder.c", "	unwind_pages_drop(unwinder->pages);\n	ended", "	ended", ["test_unwinder_late"]),
    Mutant("late: threads that are gone still have frames", "userspace/unwind/unwinder.c", "if (ended || !unwind", "if (!unwind", ["test_unwinder_late"]),
    Mutant("late: a slot that is the same is enough", STACK, "	       memcmp(now, then, sizeof(now)) == 0 &&\n	       read_process(stack, slot", "	       read_process(stack, slot", READS),
    Mutant("late: any method is there", STACK, "sizeof(word)) == 0 && word == method;", "sizeof(word)) == 0;", READS),
    Mutant("late: where one was another is forgotten", "userspace/jvm/names/method_name.c", "		names->replaced[slot] = method;\n", "		;\n", ["test_method_name"]),
    Mutant("late: who comes late says who is there", "userspace/jvm/jvm.c", "if (!ret && !late)", "if (!ret)", ["test_jvm_names"]),
    Mutant("late: is named as what is there", "userspace/jvm/jvm.c", "if (late && method_names_was", "if (0 && method_names_was", ["test_jvm_names"]),
    Mutant("late: places are not told", "userspace/unwind/walk.c", "	note_interpreted(walk->result, frozen ? c->interpreted.fp : fp, at, c->words);\n", "	(void)at, (void)fp, (void)frozen;\n", ["test_java_recorded"]),
    Mutant("heap: pieces need not add up", CHECK, "return bytes == all_bytes;", "return true;", CHECKED),
    Mutant("heap: 32 bits of a sum", CHECK, "uint64_t bytes = 0;", "uint32_t bytes = 0;", CHECKED),
    Mutant("heap: any number of pieces", CHECK, "if (count > most)\n\t\treturn false;", "", CHECKED),
    Mutant("heap: as much as there is", CHECK, "miss->heap_bytes > WIRE_MISS_HEAP_BYTES ||", "", CHECKED),
    Mutant("heap: it is no part of the record", CHECK, " + miss->heap_bytes + miss->beyond", " + miss->beyond", CHECKED),
    Mutant("heap: nothing of it is read", STACK, "if (read_piece(miss->heap, miss->heap_count, heap, address, dst, len) == 0)\n\t\treturn 0;", "", READS),
    Mutant("beyond: nothing of it is read", STACK, "return read_piece(miss->beyond, miss->beyond_count,", "return read_piece(miss->beyond, 0,", READS),
    Mutant("beyond: it lies where the heap does", STACK, "heap + miss->heap_bytes, ", "heap, ", READS),
    Mutant("beyond: as much as there is", CHECK, "miss->beyond_bytes > WIRE_MISS_MAX_COPY + WIRE_PAGE_BYTES ||", "", CHECKED),
    Mutant("beyond: less than may come", CHECK, "miss->beyond_bytes > WIRE_MISS_MAX_COPY + WIRE_PAGE_BYTES ||", "miss->beyond_bytes > WIRE_MISS_MAX_COPY ||", CHECKED),
    Mutant("beyond: it is no part of the record", CHECK, " + miss->beyond_bytes ||", " ||", CHECKED),
    Mutant("beyond: any number of pieces", CHECK, "miss->beyond_count, WIRE_MISS_BEYOND_PIECES,", "miss->beyond_count, UINT32_MAX,", CHECKED),
    Mutant("heap: each piece is the first", STACK, "from += pieces[i].bytes;", "", READS),
    Mutant("heap: it lies where the stack does", STACK, "const uint8_t *heap = miss->copy + miss->copy_bytes;", "const uint8_t *heap = miss->copy;", READS),
    Mutant("heap: a chunk of another time", FROZEN, "memory_read_stack(memory, c->frozen_at.chunk, bytes, chunk))", "memory_read(memory, c->frozen_at.chunk, bytes, chunk))", WALKS),
    Mutant("heap: a mark of another time", FROZEN, "memory_read_stack(memory, &mark, 8, cont)", "memory_read(memory, &mark, 8, cont)", WALKS),
    Mutant("heap: a newest chunk of another time", FROZEN, "memory_read_stack(memory, &tail, bytes, cont + c->jvm.chunks.tail)", "memory_read(memory, &tail, bytes, cont + c->jvm.chunks.tail)", WALKS),
    Mutant("learn: all that are there", BOOKS, "capture_is_target(capture, process->pid, cgroup) &&", "", LEARNS),
    Mutant("learn: whatever it maps", BOOKS, "if (libjvm_find_mapping(process) &&", "if (", LEARNS),
    Mutant("learn: for ever", BOOKS, "clock_now_ns() < learning->until_ns &&", "", LEARNS),
    Mutant("learn: one that is gone", BOOKS, "capture_find_process(capture, process->pid, &found) == 0", "capture_find_process(capture, process->pid, &found) <= 0", LEARNS),
    Mutant("learn: of the share of a cpu", SPACES, "int r = read_ranges(spaces, id.tgid, id.tgid);", "int r = pay_and_read(spaces, id.tgid, id.tgid);", SPACES_TURN),
    Mutant("learn: of any exec", SPACES, "const struct space_identity id = { of->tgid, of->exec_id, of->start_ns };", "const struct space_identity id = { of->tgid, 0, of->start_ns };", SPACES_TURN),
    Mutant("learn: the layout alone", UNWINDER, "unwind_spaces_set_jvm(unwinder->spaces, &of, jvm->serial);", ";", NEWS),
    Mutant("learn: of a process that is not read", UNWINDER, "if (unwind_spaces_learn(unwinder->spaces, &of, clock_now_ns()) < 0)\n\t\treturn;", "unwind_spaces_learn(unwinder->spaces, &of, clock_now_ns());", NEWS),
    Mutant("learn: for no time", BOOKS, "clock_now_ns() + most_ns", "0", LEARNS),
    Mutant("learn: of a host as long as of targets", BOOKS, "pipeline->options->pid_count ? LEARN_NS : LEARN_HOST_NS", "LEARN_NS", LEARNS),
    Mutant("learn: of targets as short as of a host", BOOKS, "pipeline->options->pid_count ? LEARN_NS : LEARN_HOST_NS", "LEARN_HOST_NS", LEARNS),
]
