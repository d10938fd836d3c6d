# SPDX-License-Identifier: Apache-2.0
"""Of files that whoever parses them may be taken over by: what a reader may, what is believed of what it says, and its end."""
from .mutant import Mutant

RIGHTS = "userspace/elf/reader/reader_rights.c"
READER = "userspace/elf/reader/reader.c"
LANE = "userspace/wall/lane.c"
TRADE = "userspace/wall/trade.c"
CONTENT = "userspace/elf/image_content.c"
SYMBOLS = "userspace/elf/symbols.c"
FILE = "userspace/elf/reader/reader_file.c"
CFI = "userspace/elf/reader/reader_cfi.c"
UNWIND = "userspace/unwind/unwind_files.c"
GUARD = "userspace/session/memory_plan.c"

TESTS = ["test_reader"]
LIFE = ["test_reader_life"]
ROWS = ["test_reader_cfi"]
SAYS = ["test_reader_file"]
FILES = ["test_unwind_files_readers"]

MUTANTS = [
    Mutant("reader: it can get capabilities again", RIGHTS, "prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);", ";", LIFE),
    Mutant("reader: it stays root", RIGHTS, "if (setresuid(NO_USER, NO_USER, NO_USER) < 0)", "if (0)", LIFE),
    Mutant("reader: it keeps groups", RIGHTS, "if (setresgid(NO_USER, NO_USER, NO_USER) < 0)", "if (0)", LIFE),
    Mutant("reader: all system calls are left", RIGHTS, "if (!SANITIZED)\n\t\tgive_up_calls();", ";", LIFE),
    Mutant("reader: it may make code", RIGHTS, "SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)", "SCMP_A2(SCMP_CMP_MASKED_EQ, 0, 0)", LIFE),
    Mutant("reader: any memory", RIGHTS, "limit(RLIMIT_AS, own + memory_bytes);", ";", LIFE),
    Mutant("reader: it holds its calls' file", TRADE, "if (trade->is_hostile)\n\t\tclose(call_fd);", ";", LIFE),
    Mutant("reader: its own word on who it is", LANE, "uint32_t pid = lane->pid ? lane->pid : atomic_load(&lane->call->broker);",
           "uint32_t pid = atomic_load(&lane->call->broker);", LIFE),
    Mutant("reader: a call takes any time of a cpu", LANE, "if (patience->cpu_ns && waited_ns >= patience->cpu_ns && lane->pid &&", "if (0 &&", LIFE),
    Mutant("reader: one that is late lives on", LANE, "(void)syscall(SYS_pidfd_send_signal, lane->pidfd, SIGKILL, NULL, 0);", ";", LIFE),
    Mutant("reader: a file pays for what others killed", LANE, "if (lane->pid && is_dead(lane->socket))", "if (0)", LIFE),
    Mutant("reader: a file is not tried again", CONTENT, "#define MAX_ENDS 3", "#define MAX_ENDS 2", LIFE),
    Mutant("reader: files that are given up are not counted", CONTENT, "reader_note_refused(path);", ";", LIFE),
    Mutant("reader: any build id", CONTENT, "if (!reader_is_hex(ret_image->link.build_id, sizeof(ret_image->link.build_id)) ||", "if (", TESTS),
    Mutant("reader: a link without end", CONTENT, "!memchr(ret_image->link.name, '\\0', sizeof(ret_image->link.name)))", "0)", TESTS),
    Mutant("reader: any number of symbols", CONTENT, "if (!counts_are_sound(reading, &counts))", "if (0)", TESTS),
    Mutant("reader: segments past the end", CONTENT, "segments_are_sound(content) && ", "", TESTS),
    Mutant("reader: names anywhere", SYMBOLS, "range->name != at || ", "", TESTS),
    Mutant("reader: functions in any order", SYMBOLS, "(at && range->address <= range[-1].address)", "0", TESTS),
    Mutant("reader: names without end", SYMBOLS, "if (len == left || len == most)", "if (0)", TESTS),
    Mutant("reader: its sentence as it is", READER, "*c = '?';", ";", TESTS),
    Mutant("reader: an answer of the last reader", LANE, "\tforget_process(lane);\n\tatomic_store", "\tatomic_store", LIFE),
    Mutant("reader: what readers take does not count", GUARD, "resident_bytes() + reader_resident_bytes() +", "resident_bytes() +",
           ["test_memory_guard"]),
    Mutant("reader: rows in any order", CFI, "(i && rows[i].offset <= rows[i - 1].offset) ||", "", ROWS),
    Mutant("reader: any kind of rule", CFI, "rows[i].rule.kind >= WIRE_RULE_KIND_COUNT)", "0)", ROWS),
    Mutant("reader: more rows than it brought", CFI, "(size_t)len != head + count * sizeof(rows[0]) || ", "", ROWS),
    Mutant("reader: more segments than it brought", CFI, "(size_t)len != head + opened->segments * sizeof(opened->segment[0]) ||", "", ROWS),
    Mutant("reader: handles of the reader before", READER, "if (ask->generation && ask->generation != lane_generation(lane->lane))", "if (0)", ROWS),
    Mutant("reader: its word that it is gone", READER, "(reader_has_gone(result) && !is_of_an_image(op))", "0", ROWS),
    Mutant("reader: rows are lost with a reader", UNWIND, "while (try_again(r, &file->ends));\n\tif (r == 0) {", "while (0);\n\tif (r == 0) {", FILES),
    Mutant("reader: a file is given up for others", UNWIND, "END_ELSEWHERE = 1,", "END_ELSEWHERE = 100,", FILES),
    Mutant("reader: a file may end any number of readers", UNWIND, "return *ends < MAX_ENDS;", "return true;", FILES),
    Mutant("reader: what was given up is tried again", UNWIND, "file->failure && !file->given_up", "file->failure", FILES),
    Mutant("reader: an owner who is late has no pause", READER, "if (is_too_soon(ask))", "if (0)", ROWS),
    Mutant("reader: segments that it did not bring", FILE, "(size_t)len != head + said->segments * sizeof(said->segment[0]) ||", "", SAYS),
    Mutant("reader: a file's link without end", FILE, "!memchr(said->link.name, '\\0', sizeof(said->link.name)))", "0)", SAYS),
    Mutant("reader: addresses that it did not bring", FILE, "return r == (int64_t)ask.answer_len", "return 1", SAYS),
    Mutant("reader: a question is asked once", FILE, "#define MAX_TRIES 2", "#define MAX_TRIES 1", SAYS),
    Mutant("reader: a file that is gone is asked for without end", UNWIND, "return reader_has_gone(r) ? -EIO : r;", "return r;", FILES),
]
