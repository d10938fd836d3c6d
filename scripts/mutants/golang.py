# SPDX-License-Identifier: Apache-2.0
"""Of names that stay in a file until they are wanted: Go's tables, which they are, what they say of an address, and what is not believed;
and symbols of large files."""
from .mutant import Mutant

TABLE = "userspace/elf/go/go_table.c"
FORM = "userspace/elf/go/go_form.c"
PLACE = "userspace/elf/go/go_place.c"
MODULE = "userspace/elf/go/go_module.c"
FRAMES = "userspace/elf/go/go_frames.c"
ROWS = "userspace/elf/cfi/cfi_gopcln.c"
NATIVE = "userspace/symbolize/native.c"

PARSE = "userspace/elf/image_parse.c"
FARS = "userspace/elf/far_symbols.c"
SYMBOLS = "userspace/elf/symbols.c"
CONTENT = "userspace/elf/image_content.c"
DROP = "userspace/elf/image_drop.c"

FAR = ["test_far_symbols"]
TESTS = ["test_go_frames"]
STEPS = ["test_cfi_gopcln", "test_cfi_gopcln_rows"]

MUTANTS = [
    Mutant("go: 1.18's functions are 1.20's", FORM, "{ 0xfffffff0, 72, 4, 40,", "{ 0xfffffff0, 72, 4, 44,", TESTS),
    Mutant("go: 1.16's functions are 1.18's", FORM, "{ 0xfffffffa, 64, 8, 44,", "{ 0xfffffffa, 64, 8, 40,", TESTS),
    Mutant("go: 1.2's offsets are 1.16's", TABLE, "table->at.form == GO_1_2 ? 0 : table->at.functab", "table->at.functab", TESTS),
    Mutant("go: any number of functions", TABLE, "at->count && at->count <= MAX_FUNCTIONS", "at->count", TESTS + STEPS),
    Mutant("go: a list's last byte counts twice", TABLE, "if (address >= steps.end)", "if (address > steps.end)", TESTS),
    Mutant("go: any code is theirs", PLACE, "return known && right >=", "return right >= 0 ||", STEPS),
    Mutant("go: %rbp is pushed or nothing", PLACE, "(code[3] == 0x2c || code[3] == 0x6c || code[3] == 0xac)", "0", TESTS),
    Mutant("go: tables have a section", PLACE, "header.sh_type != SHT_NOBITS && search_in(table, elf, &header)", "0", TESTS),
    Mutant("go: moduledata is not proven", MODULE, "if (words[0] != at->address || words[17] != at->count + 1)", "if (0)", TESTS),
    Mutant("go: moduledata's parts are not proven", MODULE, "if (words[1 + 3 * i] != at->address + parts[i])", "if (0)", TESTS),
    Mutant("go: no relocations", MODULE, "return find_relocations(&search, &header) &&", "return 0 &&", TESTS),
    Mutant("go: 1.18's moduledata is 1.20's", MODULE, "at->form == GO_1_18 ? WORD_GOFUNC_1_18 : WORD_GOFUNC_1_20", "WORD_GOFUNC_1_20", TESTS),
    Mutant("go: files of all units are one's", FRAMES, "table->at.units + ((uint64_t)function->unit + (uint32_t)number) * 4", "table->at.units + (uint64_t)(uint32_t)number * 4", TESTS),
    Mutant("go: calls begin with the name", FRAMES, "table->at.form == GO_1_18 ? 12 : 4", "4", TESTS),
    Mutant("go: a call anywhere", FRAMES, "call.parent >= function->end - function->start ||", "", TESTS),
    Mutant("go: any name of a call", FRAMES, "|| !is_name(table, call.name))", ")", TESTS),
    Mutant("go: no end of calls", FRAMES, "frames->count < GO_MAX_FRAMES - 1 &&", "frames->count < GO_MAX_FRAMES &&", TESTS),
    Mutant("go: an answer's names anywhere", FRAMES, "frames->frame[i].name >= frames->text_bytes ||", "", TESTS),
    Mutant("go: an answer's files anywhere", FRAMES, "frames->frame[i].file >= frames->text_bytes ||", "", TESTS),
    Mutant("go: an answer's text has no end", FRAMES, "frames->text[frames->text_bytes - 1])", "0)", TESTS),
    Mutant("go: %rbp is saved at once", ROWS, "saved = MIN(saved + saving_bytes(table, saved), steps->end);", ";", TESTS),
    Mutant("go: roots are any code's", ROWS, "if (table->at.form >= GO_1_18 && !(function.flags & GO_FLAG_ASSEMBLY))", "if (0)", STEPS),
    Mutant("go: nothing is inlined", NATIVE, "i + 1 < go->count ? FRAME_INLINED : FRAME_NATIVE", "FRAME_NATIVE", ["test_symbolize_parts"]),
    Mutant("far: large tables are not read", PARSE, "if (!add_far_file(parse, file, fd))", "", FAR),
    Mutant("far: any number of addresses", PARSE, "bytes > parse->left_bytes || fd < 0", "fd < 0", FAR),
    Mutant("far: names without a rank", FARS, "elf_symbol_rank(symbol, begin) }", "0 }", FAR),
    Mutant("far: any symbol is a function", FARS, "!elf_symbol_is_function(symbol) ||", "", FAR),
    Mutant("far: names anywhere", SYMBOLS, "if ((range->name & ~SYMBOL_FAR) >= symbols->far.size)", "if (0)", FAR),
    Mutant("reader: functions in any order", SYMBOLS, "if (range > symbols->ranges.items && range->address <= range[-1].address)", "if (0)", ["test_reader", "test_far_symbols"]),
    Mutant("far: all names stay", SYMBOLS, "return symbols->far.size ? FAR_BYTES :", "return symbols->far.size ? 64 << 20 :", FAR),
    Mutant("far: its file is closed", CONTENT, "symbols->names_fd = MAX(fd, 0);", "close(fd);", FAR),
    Mutant("far: any number of files", DROP, "if (count > MAX_NAMES_FILES)", "if (0)", ["test_image_names"]),
    Mutant("far: files stay open for ever", DROP, "if (!(*at)->wants && holds_file(*at))", "if (0)", ["test_image_names"]),
    Mutant("far: what is wanted is closed", DROP, "if (!(*at)->wants && holds_file(*at))", "if (holds_file(*at))", ["test_image_names"]),
]
