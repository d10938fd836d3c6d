// SPDX-License-Identifier: Apache-2.0
#include "elf/symbols.h"

#include <string.h>
#include <unistd.h>

#include "base/sort/radix.h"
#include "elf/elf_file_private.h"
#include "elf/infer/infer_end.h"
#include "elf/reader/reader_file.h"

/* Offsets of names are 32 bits wide; no binary known has a quarter of this. */
#define MAX_NAME_BYTES (1U << 30)
/* The reader takes names of 4 KiB at most. */
#define MAX_ONE_NAME_BYTES ((1U << 24) - 1)
/* Assembly code nests functions (entry points in a larger one), a few levels at most. */
#define MAX_NESTING 8
/* One for each section with code; kernel modules and -ffunction-sections objects are not mapped. */
#define MAX_SECTION_SEARCHES 1000
#define MAX_CODE_LOOKS	     64
/* Of a file whose names take so much time no more are demangled. */
#define MAX_LATE 2
/* Names that were made or read when they were wanted, of one file: some two thousand, of files whose names are here more. */
#define FAR_BYTES   (256U << 10)
#define KNOWN_BYTES (512U << 10)

struct demangled_name {
	char *text; /* owned; NULL: not mangled */
	bool cpp;
};

void symbols_builder_release(struct symbols_builder *builder)
{
	vec_release(&builder->raw);
	strbuf_release(&builder->names);
}

static void add_symbol(const struct elf_raw_symbol *symbol, void *data)
{
	struct symbols_builder *builder = data;
	size_t len = strlen(symbol->name) + 1;
	struct raw_range raw = { symbol->address, symbol->size, (uint32_t)builder->names.len,
				 len & MAX_ONE_NAME_BYTES, symbol->rank };

	if (len > MAX_ONE_NAME_BYTES || builder->names.len + len > MAX_NAME_BYTES)
		return;
	if (symbol->address >= builder->go_first && symbol->address < builder->go_end)
		return;
	/* Any number of symbols may share one name in the file. */
	if (builder->limit_bytes &&
	    builder->raw.len * sizeof(raw) + builder->names.len + len > builder->limit_bytes) {
		builder->full = true;
		return;
	}
	strbuf_add(&builder->names, symbol->name, len);
	vec_push(&builder->raw, raw);
}

void symbols_builder_add(struct symbols_builder *builder, struct elf_file *file)
{
	elf_file_for_each_raw_symbol(file, add_symbol, builder);
}

static void add_far(const struct far_symbol *symbol, void *data)
{
	struct symbols_builder *builder = data;
	const struct raw_range raw = { symbol->address, symbol->size, symbol->name | SYMBOL_FAR, 0,
				       symbol->rank };

	if (symbol->address < builder->go_first || symbol->address >= builder->go_end)
		vec_push(&builder->raw, raw);
}

static void drop_far(struct symbols_builder *builder)
{
	size_t kept = 0;

	for (size_t i = 0; i < builder->raw.len; i++)
		if (!(builder->raw.items[i].name & SYMBOL_FAR))
			builder->raw.items[kept++] = builder->raw.items[i];
	builder->raw.len = kept;
}

void symbols_builder_add_far(struct symbols_builder *builder, struct elf_file *file,
			     struct cfi_reader *reader)
{
	drop_far(builder);
	far_symbols_for_each(file, reader, add_far, builder, &builder->far);
	elf_file_for_each_plt(file, add_symbol, builder);
}

/* By address, equal ones in order of arrival. */
static void sort_raw(struct symbols_builder *builder)
{
	size_t len = builder->raw.len;
	struct raw_range *items = builder->raw.items, *room = xcalloc(len + 1, sizeof(*room));

	_Static_assert(offsetof(struct raw_range, address) == 0, "what it is sorted by");
	builder->raw.items = radix_sort(items, room, len);
	builder->raw.cap = len;
	free(builder->raw.items == items ? room : items);
}

static void take_better_name(struct raw_range *range, const struct raw_range *alias)
{
	if (alias->rank <= range->rank)
		return;
	range->name = alias->name;
	range->len = alias->len;
	range->rank = alias->rank;
}

/* One entry per address, with the best name (the first of equals) and the largest size. */
static size_t drop_aliases(struct symbols_builder *builder)
{
	struct raw_range *items = builder->raw.items;
	size_t kept = 0;

	for (size_t i = 0; i < builder->raw.len; i++) {
		if (kept > 0 && items[kept - 1].address == items[i].address) {
			items[kept - 1].size = MAX(items[kept - 1].size, items[i].size);
			take_better_name(&items[kept - 1], &items[i]);
		} else {
			items[kept++] = items[i];
		}
	}
	return kept;
}

/* A label within a function is not a function, and takes nothing of it. */
static size_t drop_labels(struct symbols_builder *builder)
{
	struct raw_range *items = builder->raw.items;
	uint64_t covered = 0;
	size_t kept = 0;

	for (size_t i = 0; i < builder->raw.len; i++) {
		if (items[i].size == 0 && items[i].address < covered)
			continue;
		covered = MAX(covered, items[i].address + items[i].size);
		items[kept++] = items[i];
	}
	return kept;
}

/* Where the function ends by its code; LIMIT if that does not tell. */
static uint64_t end_of_code(struct elf_file *file, uint64_t address, uint64_t limit)
{
	uint8_t code[INFER_END_BYTES];
	size_t len = elf_file_copy_code(file, address, code,
					MIN(limit - address, (uint64_t)sizeof(code)));
	size_t end = infer_function_end(code, len);

	return end ? address + end : limit;
}

/*
 * Without a stated size a function goes on to the next one, or to the end of its section. But a table for dynamic
 * linking alone has no local functions, which would have its name: there it ends where its code does.
 */
static void extend_unsized(struct symbols_builder *builder, struct elf_file *file)
{
	struct raw_range *items = builder->raw.items;
	const bool partial = !elf_file_has_symtab(file);
	uint64_t section_end = 0, limit;
	unsigned int searches = 0, looks = 0;

	for (size_t i = 0; i < builder->raw.len; i++) {
		if (items[i].size != 0)
			continue;
		if (items[i].address >= section_end && searches++ < MAX_SECTION_SEARCHES)
			section_end = elf_file_section_end(file, items[i].address);
		limit = i + 1 < builder->raw.len ? items[i + 1].address : UINT64_MAX;
		limit = MIN(limit, section_end);
		if (limit <= items[i].address)
			continue;
		if (partial && looks++ < MAX_CODE_LOOKS)
			limit = end_of_code(file, items[i].address, limit);
		items[i].size = limit - items[i].address;
	}
}

static void copy_ranges(const struct symbols_builder *builder, struct symbols *symbols)
{
	const char *all_names = strbuf_str(&builder->names);
	size_t bytes = 0, at = 0;

	for (size_t i = 0; i < builder->raw.len; i++)
		bytes += builder->raw.items[i].len;
	symbols->names = xmalloc(bytes + 1);
	symbols->name_bytes = bytes + 1;
	symbols->ranges.cap = builder->raw.len;
	symbols->ranges.items = xmalloc((builder->raw.len + 1) * sizeof(struct symbol_range));
	for (size_t i = 0; i < builder->raw.len; i++) {
		const struct raw_range *raw = &builder->raw.items[i];

		symbols->ranges.items[symbols->ranges.len++] =
			(struct symbol_range){ raw->address, (uint32_t)MIN(raw->size, UINT32_MAX),
					       raw->name & SYMBOL_FAR ? raw->name : (uint32_t)at };
		if (raw->name & SYMBOL_FAR)
			continue;
		memcpy(symbols->names + at, all_names + raw->name, raw->len);
		at += raw->len;
	}
}

void symbols_build(struct symbols_builder *builder, struct elf_file *file,
		   struct symbols *ret_symbols)
{
	struct symbols symbols = { 0 };

	if (builder->raw.len > 0)
		sort_raw(builder);
	builder->raw.len = drop_aliases(builder);
	builder->raw.len = drop_labels(builder);
	extend_unsized(builder, file);
	copy_ranges(builder, &symbols);
	symbols.far = builder->far;
	symbols_builder_release(builder);
	*ret_symbols = symbols;
}

void symbols_release(struct symbols *symbols)
{
	lru_clear(&symbols->known);
	vec_release(&symbols->ranges);
	bounds_release(&symbols->bounds);
	if (symbols->names_fd > 0)
		close(symbols->names_fd);
	symbols->names_fd = 0;
	free(symbols->names);
	symbols->names = NULL;
	symbols->name_bytes = 0;
	symbols->far = (struct far_names){ 0 };
	symbols->go = (struct go_place){ 0 };
}

/* What demangled names may take: twice the others at most, which small files have few of. */
static size_t known_limit(const struct symbols *symbols)
{
	return symbols->far.size ? FAR_BYTES : MIN(2 * symbols->name_bytes, (size_t)KNOWN_BYTES);
}

size_t symbols_bytes(const struct symbols *symbols)
{
	return symbols->ranges.cap * sizeof(struct symbol_range) + symbols->name_bytes +
	       symbols->bounds.v.cap * sizeof(struct bound) + known_limit(symbols);
}

/* The innermost range that holds ADDRESS, or NULL. */
static const struct symbol_range *find_range(const struct symbols *symbols, uint64_t address)
{
	const struct symbol_range *ranges = symbols->ranges.items;
	size_t low = 0, high = symbols->ranges.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 1; back <= MIN(low, MAX_NESTING); back++)
		if (address - ranges[low - back].address < ranges[low - back].size)
			return &ranges[low - back];
	return NULL;
}

bool symbols_cover(const struct symbols *symbols, uint64_t start, uint64_t end)
{
	const struct symbol_range *range = find_range(symbols, start);

	return range && end - range->address <= range->size;
}

static char *demangle_plain(struct symbols *symbols, const char *name, bool *ret_cpp)
{
	char *text;
	bool late;

	*ret_cpp = false;
	if (symbols->late >= MAX_LATE)
		return NULL;
	text = reader_demangle(name, symbols->owner, ret_cpp, &late);
	symbols->late += late;
	return text;
}

/* The demangler does not know our "@plt". */
static char *demangle_plt(struct symbols *symbols, const char *name, size_t len, bool *ret_cpp)
{
	_cleanup_free_ char *plain = xstrndup(name, len);
	_cleanup_free_ char *text = demangle_plain(symbols, plain, ret_cpp);
	struct strbuf with_suffix = STRBUF_INIT;

	if (!text)
		return NULL;
	strbuf_addf(&with_suffix, "%s" ELF_PLT_SUFFIX, text);
	return strbuf_take(&with_suffix);
}

static char *demangle_symbol(struct symbols *symbols, const char *name, bool *ret_cpp)
{
	size_t len = strlen(name), suffix = strlen(ELF_PLT_SUFFIX);

	if (len > suffix && strcmp(name + len - suffix, ELF_PLT_SUFFIX) == 0)
		return demangle_plt(symbols, name, len - suffix, ret_cpp);
	return demangle_plain(symbols, name, ret_cpp);
}

static void free_name(uint64_t value, void *data)
{
	struct demangled_name *name = (struct demangled_name *)(uintptr_t)
		value; /* NOLINT: a pointer that was put there */

	(void)data;
	free(name->text);
	free(name);
}

static const struct demangled_name *find_known(struct symbols *symbols, size_t index)
{
	uint64_t known;

	if (!lru_get(&symbols->known, index, &known))
		return NULL;
	return (const struct demangled_name *)(uintptr_t)known; /* NOLINT: as above */
}

/* Those that were not asked for longest go. TEXT is taken. */
static const struct demangled_name *keep_name(struct symbols *symbols, size_t index, char *text,
					      bool cpp)
{
	struct demangled_name *name = xcalloc(1, sizeof(*name));

	*name = (struct demangled_name){ text, cpp };
	if (!symbols->known.limit_bytes)
		lru_init(&symbols->known, known_limit(symbols), free_name, NULL);
	lru_put(&symbols->known, index, (uintptr_t)name,
		sizeof(*name) + (text ? strlen(text) + 1 : 0));
	return name;
}

static const struct demangled_name *demangled_name_of(struct symbols *symbols, size_t index)
{
	static const struct demangled_name plain = { NULL, false };
	const char *mangled = symbols->names + symbols->ranges.items[index].name;
	const struct demangled_name *name;
	char *text;
	bool cpp;

	if (!reader_may_demangle(mangled))
		return &plain;
	name = find_known(symbols, index);
	if (name)
		return name;
	text = demangle_symbol(symbols, mangled, &cpp);
	return keep_name(symbols, index, text, cpp);
}

/* NULL: it cannot be read any more. */
static const struct demangled_name *far_name_of(struct symbols *symbols, size_t index)
{
	uint64_t at = symbols->ranges.items[index].name & ~SYMBOL_FAR;
	const struct demangled_name *name = find_known(symbols, index);
	bool cpp, late;
	char *text;

	if (name)
		return name;
	if (!symbols->names_fd || symbols->late >= MAX_LATE)
		return NULL;
	text = reader_far_name(symbols->names_fd, symbols->owner, symbols->far.offset + at,
			       symbols->far.size - at, &cpp, &late);
	symbols->late += late;
	return text ? keep_name(symbols, index, text, cpp) : NULL;
}

static const struct demangled_name *name_of(struct symbols *symbols, size_t index)
{
	return symbols->ranges.items[index].name & SYMBOL_FAR ? far_name_of(symbols, index)
							      : demangled_name_of(symbols, index);
}

/* Names lie one behind the other as their functions do. */
bool symbols_are_sound(const struct symbols *symbols)
{
	const size_t most = ELF_MAX_SYMBOL_NAME + sizeof(ELF_PLT_SUFFIX);
	const struct symbol_range *range;
	size_t at = 0;

	vec_for_each (range, &symbols->ranges) {
		size_t left = symbols->name_bytes - at, len;

		if (range > symbols->ranges.items && range->address <= range[-1].address)
			return false;
		if (range->name & SYMBOL_FAR) {
			if ((range->name & ~SYMBOL_FAR) >= symbols->far.size)
				return false;
			continue;
		}
		if (range->name != at)
			return false;
		len = strnlen(symbols->names + at, MIN(left, most));
		if (len == left || len == most)
			return false;
		at += len + 1;
	}
	return at <= symbols->name_bytes && bounds_are_sound(&symbols->bounds);
}

bool symbols_find(struct symbols *symbols, uint64_t address, struct elf_symbol *ret_symbol)
{
	const struct symbol_range *range = find_range(symbols, address);
	const struct demangled_name *name;

	if (!range)
		return false;
	name = name_of(symbols, (size_t)(range - symbols->ranges.items));
	if (!name)
		return false;
	ret_symbol->address = range->address;
	ret_symbol->size = range->size;
	ret_symbol->name = name->text ? name->text : symbols->names + range->name;
	ret_symbol->cpp = name->cpp;
	return true;
}

bool symbols_find_go(struct symbols *symbols, uint64_t address, struct go_frames *ret_frames)
{
	int r;

	if (!symbols->go.size || !symbols->names_fd || address < symbols->go.first ||
	    address >= symbols->go.end || symbols->late >= MAX_LATE)
		return false;
	r = reader_go_frames(symbols->names_fd, symbols->owner, &symbols->go, address, ret_frames);
	symbols->late += reader_has_gone(r);
	return r == 0;
}
