# SPDX-License-Identifier: Apache-2.0
"""Of jitdumps: which file is one, what its records say, and of what is none."""
from .mutant import Mutant

SERVE = "userspace/elf/reader/reader_serve_jit_dump.c"
READER = "userspace/elf/reader/reader_perf_map.c"
TRADE = "userspace/elf/reader/reader_trade.c"
MAP = "userspace/symbolize/perf_map.c"
NATIVE = "userspace/symbolize/native.c"

READS = ["test_reader_jit_dump"]
NAMES = ["test_jit_dump"]
STACKS = ["test_symbolize_parts"]

MUTANTS = [
    Mutant("dump: another byte order", SERVE, "header.magic != MAGIC || ", "", READS),
    Mutant("dump: another machine", SERVE, "header.machine != EM_X86_64 ||", "", READS),
    Mutant("dump: a short header", SERVE, " || header.bytes < sizeof(header) ||", " ||", READS),
    Mutant("dump: a header of any length", SERVE, " ||\n\t    header.bytes > MAX_HEADER_BYTES", "", READS),
    Mutant("dump: a record in the making counts", SERVE, "record.bytes > piece->left - at ||", "", READS),
    Mutant("dump: a head that is not read counts", SERVE, " ||\n\t    MIN((uint64_t)record.bytes, (uint64_t)HEAD_MOST) > piece->len - at)", ")", READS),
    Mutant("dump: records shorter than themselves", SERVE, "if (record.bytes < sizeof(record))\n\t\treturn -EBADMSG;", "", READS),
    Mutant("dump: where a file would have it", SERVE, "reader_map_add(answer, load.start, load.size,", "reader_map_add(answer, load.memory, load.size,", READS),
    Mutant("dump: a name beyond its record", SERVE, "MIN(bytes - NAME_AT, (size_t)READER_MAP_NAME)", "(size_t)READER_MAP_NAME", READS),
    Mutant("dump: a name of any length", SERVE, "MIN(bytes - NAME_AT, (size_t)READER_MAP_NAME)", "bytes - NAME_AT", READS),
    Mutant("dump: short loads", SERVE, "if (bytes <= NAME_AT)\n\t\treturn;", "", READS),
    Mutant("dump: short moves", SERVE, "if (bytes < sizeof(struct dump_record) + sizeof(move))\n\t\treturn;", "", READS),
    Mutant("dump: all kinds are loads", SERVE, "if (record->kind == DUMP_LOAD)", "if (1)", READS),
    Mutant("dump: no moves", SERVE, "else if (record->kind == DUMP_MOVE)", "else if (0)", READS),
    Mutant("dump: what is asked for is no bound", SERVE, "MIN(piece.left, call->len)", "piece.left", READS),
    Mutant("dump: a break takes what is in front of it", SERVE, "return at ? 0 : bytes;", "return bytes;", READS),
    Mutant("dump: a reader's word on what has moved", READER, "(len > 0) == (line->from == 0)", "1", READS),
    Mutant("dump: it gets no file", TRADE, "case READER_PERF_MAP:\n\tcase READER_JIT_DUMP:\n", "case READER_PERF_MAP:\n", READS),
    Mutant("dump: read as text", MAP, "return map->is_dump ? reader_jit_dump(", "return 0 ? reader_jit_dump(", NAMES),
    Mutant("dump: it goes on behind a break", MAP, "if (r == -EBADMSG && map->is_dump)\n\t\tmap->ends = MAX_ENDS;", "", NAMES),
    Mutant("dump: moved code has no name", MAP, "entry.name = name_of_start(map, line->from);", "entry.name = NO_NAME;", NAMES),
    Mutant("dump: moved code of what is new only", MAP, "return len && entries[len - 1].start == address ? entries[len - 1].name : NO_NAME;", "return NO_NAME;", NAMES),
    Mutant("dump: all that is new is searched", MAP, "if (len - least > MAX_MOVED)", "if (0)", NAMES),
    Mutant("dump: the oldest code at a place", MAP, "for (size_t i = len; i > least; i--)\n\t\tif (entries[i - 1].start == address)\n\t\t\treturn entries[i - 1].name;",
           "for (size_t i = least; i < len; i++)\n\t\tif (entries[i].start == address)\n\t\t\treturn entries[i].name;", NAMES),
    Mutant("dump: no name is the first one", MAP, "best && best->name != NO_NAME ?", "best ?", NAMES),
    Mutant("dump: deleted files are none", MAP, "len -= strlen(deleted);", "len -= 0;", NAMES),
    Mutant("dump: any directory", MAP, "const char *name = file_name_of(path);", "const char *slash = strchr(path, '/'), *name = slash ? slash + 1 : path;", NAMES),
    Mutant("dump: any file that ends so", MAP, " &&\n\t       (!strncmp(name, \"jit-\", 4) || !strncmp(name, \"perf-\", 5))", "", NAMES),
    Mutant("dump: by its path only", MAP, "fd = wall_open(pid, link);\n\tif (fd < 0)\n\t\tfd = wall_open_in_root(pid, mapping->path", "fd = -1;\n\tif (fd < 0)\n\t\tfd = wall_open_in_root(pid, mapping->path", NAMES),
    Mutant("dump: by the kernel's link only", MAP, "fd = wall_open_in_root(pid, mapping->path, O_NOFOLLOW);", ";", NAMES),
    Mutant("dump: anybody's", MAP, "if (fd < 0 || !is_trusted(fd, status.uid))\n\t\treturn NULL;\n\treturn perf_map_of_dump(", "if (fd < 0)\n\t\treturn NULL;\n\treturn perf_map_of_dump(", NAMES),
    Mutant("dump: memory without a file", NATIVE, "if (mapping->key.inode && perf_map_is_dump(mapping->path))", "if (perf_map_is_dump(mapping->path))", STACKS),
    Mutant("dump: looked for when there is no map only", NATIVE, "if (!cache->perf_map || !cache->jit_dump)", "if (!cache->perf_map)", STACKS),
    Mutant("dump: opened again and again", NATIVE, "if (!cache->jit_dump)\n\t\tcache->jit_dump", "cache->jit_dump", STACKS),
    Mutant("dump: a map says more", NATIVE, "if (!name && cache->perf_map)", "if (cache->perf_map)", STACKS),
]
