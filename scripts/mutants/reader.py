# SPDX-License-Identifier: Apache-2.0
"""Of files that whoever parses them may be taken over by: what a reader may, what is believed of what it says, and its end."""
from .mutant import Mutant

RIGHTS = "userspace/elf/reader/reader_rights.c"
READER = "userspace/elf/reader/reader.c"
GIVEN = "userspace/base/rights.c"
LANE = "userspace/wall/lane.c"
TRADE = "userspace/wall/trade.c"
SOUND = "userspace/elf/reader/reader_sound.c"
CONTENT = "userspace/elf/image_content.c"
SYMBOLS = "userspace/elf/symbols.c"
FILE = "userspace/elf/reader/reader_file.c"
CFI = "userspace/elf/reader/reader_cfi.c"
UNWIND = "userspace/unwind/unwind_files.c"
SOURCE = "userspace/unwind/unwind_source.c"
GUARD = "userspace/session/memory_plan.c"

OWNER = "userspace/elf/reader/reader_owner.c"
POOL = "userspace/elf/reader/reader_pool.c"
MAP = "userspace/elf/reader/reader_perf_map.c"
LINES = "userspace/elf/reader/reader_serve_perf_map.c"
PERF_MAP = "userspace/symbolize/perf_map.c"

TESTS = ["test_reader"]
OWNERS = ["test_reader_pool"]
MAPS = ["test_reader_perf_map"]
LIFE = ["test_reader_life"]
ROWS = ["test_reader_cfi"]
SAYS = ["test_reader_file"]
FILES = ["test_unwind_files_readers"]

MUTANTS = [
    Mutant("reader: it can get capabilities again", GIVEN, "bound();\n\tfor", "for", LIFE),
    Mutant("reader: it stays root", GIVEN, "if (setresuid(NO_USER, NO_USER, NO_USER) < 0)", "if (0)", LIFE),
    Mutant("reader: it keeps groups", GIVEN, "if (setresgid(NO_USER, NO_USER, NO_USER) < 0)", "if (0)", LIFE),
    Mutant("reader: all system calls are left", RIGHTS, "if (!SANITIZED)\n\t\tgive_up_calls();", ";", LIFE),
    Mutant("reader: it may make code", RIGHTS, "SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)", "SCMP_A2(SCMP_CMP_MASKED_EQ, 0, 0)", LIFE),
    Mutant("reader: any memory", RIGHTS, "rights_limit(RLIMIT_AS, own + memory_bytes);", ";", LIFE),
    Mutant("reader: it holds its calls' file", TRADE, "if (trade->is_hostile)\n\t\tclose(call_fd);", ";", LIFE),
    Mutant("reader: its own word on who it is", LANE, "uint32_t pid = lane->pid ? lane->pid : atomic_load(&lane->call->broker);",
           "uint32_t pid = atomic_load(&lane->call->broker);", LIFE),
    Mutant("reader: a call takes any time of a cpu", LANE, "if (patience->cpu_ns && waited_ns >= patience->cpu_ns && lane->pid &&", "if (0 &&", LIFE),
    Mutant("reader: one that is late lives on", LANE, "(void)syscall(SYS_pidfd_send_signal, lane->pidfd, SIGKILL, NULL, 0);", ";", LIFE),
    Mutant("reader: a file pays for what others killed", LANE, "if (lane->pid && is_dead(lane->socket))", "if (0)", LIFE),
    Mutant("reader: a file is not tried again", CONTENT, "#define MAX_ENDS 3", "#define MAX_ENDS 2", LIFE),
    Mutant("reader: files that are given up are not counted", CONTENT, "reader_note_refused(path);", ";", LIFE),
    Mutant("reader: any build id", SOUND, "return reader_is_hex(link->build_id, sizeof(link->build_id)) &&", "return", TESTS),
    Mutant("reader: a link without end", SOUND, "memchr(link->name, '\\0', sizeof(link->name)) != NULL;", "1;", TESTS),
    Mutant("reader: segments over the end", SOUND, "segments[i].offset + segments[i].file_size < segments[i].offset", "0", TESTS + ROWS + SAYS),
    Mutant("reader: any number of symbols", CONTENT, "if (!counts_are_sound(reading, &counts))", "if (0)", TESTS),
    Mutant("reader: segments past the end", CONTENT, "!segments_are_sound(content) || ", "", TESTS),
    Mutant("reader: names anywhere", SYMBOLS, "if (range->name != at)", "if (0)", TESTS),
    Mutant("reader: names without end", SYMBOLS, "if (len == left || len == most)", "if (0)", TESTS),
    Mutant("reader: its sentence as it is", READER, "*c = '?';", ";", TESTS),
    Mutant("reader: an answer of the last reader", LANE, "\tforget_process(lane);\n\tlane->left_about", "\tlane->left_about", LIFE),
    Mutant("reader: what readers take does not count", GUARD, "resident_bytes(guard) + reader_resident_bytes() +", "resident_bytes(guard) +",
           ["test_memory_guard"]),
    Mutant("reader: rows in any order", CFI, "(i && rows[i].offset <= rows[i - 1].offset) ||", "", ROWS),
    Mutant("reader: any kind of rule", CFI, "rows[i].rule.kind >= WIRE_RULE_KIND_COUNT)", "0)", ROWS),
    Mutant("reader: more rows than it brought", CFI, "(size_t)len != head + count * sizeof(rows[0]) || ", "", ROWS),
    Mutant("reader: more segments than it brought", CFI, "(size_t)len != head + opened->segments * sizeof(opened->segment[0]) ||", "", ROWS),
    Mutant("reader: handles of the reader before", READER, "if (ask->generation && ask->generation != lane_generation(lane))", "if (0)", ROWS),
    Mutant("reader: its word that it is gone", READER, "(reader_has_gone(result) && !is_of_an_image(op))", "0", ROWS),
    Mutant("reader: rows are lost with a reader", UNWIND, "while (try_again(r, &file->ends));\n\tif (r == -EAGAIN) {", "while (0);\n\tif (r == -EAGAIN) {", FILES),
    Mutant("reader: a file is given up for others", UNWIND, "END_ELSEWHERE = 1,", "END_ELSEWHERE = 100,", FILES),
    Mutant("reader: a file may end any number of readers", UNWIND, "return *ends < MAX_ENDS;", "return true;", FILES),
    Mutant("reader: what was given up is tried again", UNWIND, "file->failure && !file->given_up", "file->failure", FILES),
    Mutant("reader: an owner who is late has no pause", READER, "if (is_too_soon(ask))", "if (0)", ROWS),
    Mutant("reader: segments that it did not bring", FILE, "(size_t)len == head + said->segments * sizeof(said->segment[0]) &&", "", SAYS),
    Mutant("reader: a file's link without end", FILE, "reader_link_is_sound(&said->link) &&", "", SAYS),
    Mutant("reader: addresses that it did not bring", FILE, "return r == (int64_t)ask->answer_len", "return 1", SAYS),
    Mutant("reader: a soname without end", FILE, "r <= NAME_MAX + 1 && !ret_name[r - 1]", "r <= NAME_MAX + 1", SAYS),
    Mutant("reader: any number of functions", FILE, "ret_places->count <= READER_MAX_PLACES &&", "", SAYS),
    Mutant("reader: functions that it did not bring", FILE, "(size_t)r == head + ret_places->count * sizeof(uint64_t)", "1", SAYS),
    Mutant("reader: one for all users", OWNER, "return user == 0 ? owner : (uint64_t)user << 32;", "return READER_TRUSTED;", OWNERS),
    Mutant("reader: root of any container is trusted", OWNER, "&& is_own_device(device))", "&& device)", OWNERS),
    Mutant("reader: what others may write is its owner's", OWNER, "id->shared ? ~id->owner : id->owner", "id->owner", OWNERS),
    Mutant("reader: the next owner gets the same process", POOL, "\tend_slot(oldest);\n", "\t;\n", OWNERS),
    Mutant("reader: the newest owner loses his", POOL, "pool->others[i].used < oldest->used", "pool->others[i].used > oldest->used", OWNERS),
    Mutant("reader: a worker has several", POOL, "pool->is_loop ? READER_POOL_LOOP : READER_POOL_OTHERS", "READER_POOL_LOOP", OWNERS),
    Mutant("reader: two processes of one number", LANE, "lane->generation = atomic_fetch_add(&generations, 1) + 1;", "lane->generation++;", OWNERS),
    Mutant("reader: any number of lines", MAP, "map->lines <= READER_MAP_LINES &&", "", MAPS),
    Mutant("reader: more lines than it brought", MAP, "(size_t)len == head + map->lines * sizeof(map->line[0]) + map->text_bytes &&", "", MAPS),
    Mutant("reader: more of the file than was asked", MAP, "map->taken <= asked && ", "", MAPS),
    Mutant("reader: lines of nothing", MAP, "&& map->lines <= map->taken / SHORTEST_LINE", "", MAPS),
    Mutant("reader: a line that ends before it begins", MAP, "line->start >= line->end || ", "", MAPS),
    Mutant("reader: a line's name anywhere", MAP, "|| line->name >= map->text_bytes", "", MAPS),
    Mutant("reader: a line's name without end", MAP, "&& len < left", "", MAPS),
    Mutant("reader: a line's name of any length", MAP, "len <= READER_MAP_NAME && ", "", MAPS),
    Mutant("reader: half a line is taken", LINES, "cursor = (struct text_cursor){ text, last + 1 };", "cursor = (struct text_cursor){ text, text + len };", MAPS),
    Mutant("reader: a perf map is read from its begin", LINES, "(off_t)call->offset", "0", MAPS),
    Mutant("reader: a perf map ends any number of readers", PERF_MAP, "map->bytes < most_bytes(map) && map->ends < MAX_ENDS", "map->bytes < most_bytes(map)",
           ["test_perf_map_readers"]),
    Mutant("reader: a question is asked once", FILE, "#define MAX_TRIES 2", "#define MAX_TRIES 1", SAYS),
    Mutant("reader: a file that is gone is asked for without end", SOURCE, "return reader_has_gone(r) ? -EIO : r;", "return r;", FILES),
]
