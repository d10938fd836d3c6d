# SPDX-License-Identifier: Apache-2.0
"""Of native code without symbols: which function an address is of."""
from .mutant import Mutant

BOUNDS = "userspace/elf/bounds.c"
SYMBOLS = "userspace/elf/symbols.c"
CONTENT = "userspace/elf/image_content.c"
KIND = "userspace/profile/frame_kind.c"
NATIVE = "userspace/symbolize/native.c"
READ = "userspace/recording/read_pools.c"

PLT = "userspace/elf/plt.c"
FETCH = "userspace/elf/debuginfod/debuginfod.c"
LATE = "userspace/symbolize/late_names.c"

TESTS = ["test_bounds"]
ENTRIES = ["test_plt"]
FETCHED = ["test_debuginfod"]
NAMED = ["test_late_names"]
READER = ["test_reader"]

MUTANTS = [
    Mutant("leaf: a jump into a table is a tail call", "bpf/native/leaf.h", "cursor_load(c, memory, rule.ra_at, &ra) || !leaf_has_called(c, memory, ra)", "cursor_load(c, memory, rule.ra_at, &ra)", ["test_leaf"]),
    Mutant("leaf: a tail call through a pointer has a frame", "bpf/native/leaf.h", "} else if (leaf_is_jump(p)) {", "} else if (0) {", ["test_leaf"]),
    Mutant("leaf: the upper registers are none", "bpf/native/leaf.h", "p[0] == 0x41 ? p + 1 : p", "p", ["test_leaf"]),
    Mutant("misses: a long copy is as cheap as a short one", "bpf/sample/bucket.h", "bucket->tokens -= more < bucket->tokens ? more : bucket->tokens;", "(void)more;", ["test_bucket"]),
    Mutant("misses: more is paid than there is", "bpf/sample/bucket.h", "more < bucket->tokens ? more : bucket->tokens", "more", ["test_bucket"]),
    Mutant("bounds: a function has no end", BOUNDS, "if (address - bound->start >= bound->size)", "if (0)", TESTS),
    Mutant("bounds: one goes on in the next", BOUNDS, "else if (kept)", "else if (0)", TESTS),
    Mutant("bounds: the shorter of two", BOUNDS, "return (x->size > y->size) - (x->size < y->size);",
           "return (x->size < y->size) - (x->size > y->size);", TESTS),
    Mutant("bounds: of two that begin together both", BOUNDS, "if (kept && items[kept - 1].start == items[i].start)", "if (0)", TESTS),
    Mutant("bounds: of any address", BOUNDS, "start < bounds->base || start - bounds->base > UINT32_MAX", "0", TESTS),
    Mutant("bounds: of nothing", BOUNDS, "end <= start ||", "", TESTS),
    Mutant("bounds: in no order", BOUNDS, "bound->start < end)", "0)", TESTS + READER),
    Mutant("bounds: of no bytes", BOUNDS, "bound->size == 0 ||", "", TESTS + READER),
    Mutant("bounds: over the end of all addresses", BOUNDS, "if (bounds->base > MAX_ADDRESS)", "if (0)", TESTS + READER),
    Mutant("bounds: a damaged record is the first", BOUNDS, "|| start > MAX_ADDRESS)", ")", TESTS),
    Mutant("bounds: what a symbol begins is all its", SYMBOLS, "return range && end - range->address <= range->size;", "return range;", TESTS),
    Mutant("bounds: any number of them", CONTENT, "s->bounds <= MIN(most / sizeof(struct bound), (uint64_t)BOUNDS_MAX);", "true;", READER),
    Mutant("bounds: a reader's are believed", SYMBOLS, "&& bounds_are_sound(&symbols->bounds);", ";", READER),
    Mutant("plt: entries of the GOT have no slots", PLT, "if (has_got_entries)", "if (0)", ENTRIES),
    Mutant("plt: any relocation names an entry", PLT, "(type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||", "", ENTRIES),
    Mutant("plt: all entries are as long", PLT, "header.sh_entsize == SHORT_ENTRY_BYTES ?", "0 ?", ENTRIES),
    Mutant("plt: what is chosen has no name", PLT, "if (slots->resolvers) {", "if (0) {", ENTRIES),
    Mutant("plt: who chooses has the last of its names", PLT, "(slot->name && slot->rank >= symbol->rank)", "0", ENTRIES),
    Mutant("plt: what is chosen twice is named once", PLT, "slots->v.items[i].name = slots->v.items[i - 1].name;", ";", ENTRIES),
    Mutant("debuginfod: any build id", FETCH, "|| strcmp(its_id, build_id) != 0", "", FETCHED),
    Mutant("debuginfod: it has any time", "userspace/base/file.c", "if (now >= until_ns)", "if (0)", FETCHED),
    Mutant("debuginfod: one that is late is asked again", FETCH, "if (r == -ETIMEDOUT || r == -ECHILD || r == -EPIPE)\n\t\tdebuginfod_end(it);", ";", FETCHED),
    Mutant("debuginfod: a message of any length", FETCH, "if (n != (ssize_t)sizeof(said)) {", "if (0) {", FETCHED),
    Mutant("debuginfod: it succeeds with any number", FETCH, "return said.result > 0 ? -EBADMSG : said.result;", "return MIN(said.result, 0);", FETCHED),
    Mutant("debuginfod: its time begins anew with each file", FETCH, "if (!it->until_ns)", "", FETCHED),
    Mutant("debuginfod: anything is asked for", FETCH, "build_id[strspn(build_id, \"0123456789abcdef\")])", "0)", FETCHED),
    Mutant("late names: of another build", LATE, "if (!strcmp(content.build_id, profile_get_string(p, mapping->build_id))) {", "if (1) {", NAMED),
    Mutant("late names: in the place of others", LATE, "f->kind == FRAME_NATIVE && !f->name &&", "f->kind == FRAME_NATIVE &&", NAMED),
    Mutant("late names: of all files", LATE, "if (f->mapping != mapping || !wants_name(f) ||", "if (!wants_name(f) ||", NAMED),
    Mutant("late names: who has gone is asked again", LATE, "if (r != -ETIMEDOUT && figures.wanted", "if (figures.wanted", NAMED),
    Mutant("a nameless frame by its address", KIND, "f->address - f->into);", "f->address);", ["test_frame_kind"]),
    Mutant("a nameless frame without its function", NATIVE, "frame.into = (uint32_t)(frame.address - start);", ";", ["test_symbolize_parts"]),
    Mutant("a recording's frames without their functions", READ, ".into = (uint32_t)v->number[8],", "", ["test_recording"]),
]
