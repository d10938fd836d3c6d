// SPDX-License-Identifier: Apache-2.0
/*
 * Line: "ADDRESS TYPE NAME", and "\t[MODULE]" for what is not the core (Linux kernel/kallsyms.c,
 * s_show()). The core's lines are sorted, those of modules and BPF programs are not.
 */
#include "symbolize/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/hmap.h"
#include "base/text/text_cursor.h"

#define READ_SIZE (256UL * 1024)
/* Twenty times what a distribution kernel with all its modules has. */
#define MAX_SYMBOLS (4U << 20)
#define MAX_NOTES   (64UL * 1024)

struct kernel_symbol {
	uint64_t address;
	uint32_t name;	 /* offset into names */
	uint32_t module; /* id in modules */
};

struct kernel_symbols {
	VEC(struct kernel_symbol) items; /* sorted by address, one per address */
	struct strbuf names;
	struct intern modules; /* 0 is "kernel" */
	const char *types;     /* of the symbols that are kept */
	char build_id[129];
};

/* --- lines --- */

/* Types are those of nm(1). */
#define CODE_TYPES "tTwW"
#define DATA_TYPES "dDbBvV"

static struct text_cursor take_word(struct text_cursor *line)
{
	struct text_cursor word = *line;

	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	word.end = line->at;
	text_skip_blanks(line);
	return word;
}

static uint32_t module_id(struct kernel_symbols *symbols, struct text_cursor word)
{
	size_t len = (size_t)(word.end - word.at);

	if (len < 3 || word.at[0] != '[' || word.end[-1] != ']')
		return 0;
	return intern_put(&symbols->modules, word.at + 1, len - 2, NULL);
}

static void add_line(struct kernel_symbols *symbols, struct text_cursor line)
{
	struct kernel_symbol symbol = { 0 };
	struct text_cursor type, name;

	if (!text_take_number(&line, 16, &symbol.address) || symbol.address == 0)
		return;
	text_skip_blanks(&line);
	type = take_word(&line);
	name = take_word(&line);
	if (type.end - type.at != 1 || !memchr(symbols->types, *type.at, strlen(symbols->types)) ||
	    name.at == name.end || symbols->items.len >= MAX_SYMBOLS)
		return;
	symbol.name = (uint32_t)symbols->names.len;
	symbol.module = module_id(symbols, take_word(&line));
	strbuf_add(&symbols->names, name.at, (size_t)(name.end - name.at));
	strbuf_addch(&symbols->names, '\0');
	vec_push(&symbols->items, symbol);
}

/* Takes whole lines; returns the bytes taken. */
static size_t add_lines(struct kernel_symbols *symbols, const char *text, size_t len)
{
	const char *last = memrchr(text, '\n', len);
	struct text_cursor cursor = { text, last ? last + 1 : text }, line;

	while (text_next_line(&cursor, &line))
		add_line(symbols, line);
	return (size_t)(cursor.end - text);
}

/* --- the table --- */

static int compare_symbols(const void *a, const void *b)
{
	const struct kernel_symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->name < right->name ? -1 : left->name > right->name;
}

/* The first that is to come after ADDRESS, of the first LEN, which are sorted. */
static size_t upper_bound(const struct kernel_symbol *items, size_t len, uint64_t address)
{
	size_t low = 0, high = len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Most are sorted, so that only those behind the lowest that stands too far behind have to be. */
static void sort(struct kernel_symbol *items, size_t len)
{
	uint64_t lowest = UINT64_MAX;
	size_t sorted = 0, from;

	while (sorted + 1 < len && items[sorted].address <= items[sorted + 1].address)
		sorted++;
	for (size_t i = sorted + 1; i < len; i++)
		lowest = MIN(lowest, items[i].address);
	from = upper_bound(items, MIN(sorted + 1, len), lowest);
	if (sorted + 1 < len)
		qsort(items + from, len - from, sizeof(*items), compare_symbols);
}

static bool is_better_name(const char *name, const char *than)
{
	return strspn(name, "_") < strspn(than, "_");
}

static void finish(struct kernel_symbols *symbols)
{
	struct kernel_symbol *items = symbols->items.items;
	const char *names = strbuf_str(&symbols->names);
	size_t kept = 0;

	sort(items, symbols->items.len);
	for (size_t i = 0; i < symbols->items.len; i++) {
		if (kept == 0 || items[kept - 1].address != items[i].address)
			items[kept++] = items[i];
		else if (is_better_name(names + items[i].name, names + items[kept - 1].name))
			items[kept - 1] = items[i];
	}
	symbols->items.len = kept;
}

static struct kernel_symbols *new_symbols(const char *types)
{
	struct kernel_symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->types = types;
	intern_init(&symbols->modules);
	intern_put(&symbols->modules, "kernel", strlen("kernel"), NULL);
	return symbols;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	vec_release(&symbols->items);
	strbuf_release(&symbols->names);
	intern_release(&symbols->modules);
	free(symbols);
}

static int parse(const char *types, const char *text, size_t len,
		 struct kernel_symbols **ret_symbols)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = new_symbols(types);

	add_lines(symbols, text, len);
	if (symbols->items.len == 0)
		return -ENODATA;
	finish(symbols);
	*ret_symbols = TAKE_PTR(symbols);
	return 0;
}

int kernel_symbols_parse(const char *text, size_t len, struct kernel_symbols **ret_symbols)
{
	return parse(CODE_TYPES, text, len, ret_symbols);
}

int kernel_symbols_parse_data(const char *text, size_t len, struct kernel_symbols **ret_symbols)
{
	return parse(DATA_TYPES, text, len, ret_symbols);
}

/* --- from the running kernel --- */

/* In pieces: the whole text is ten megabytes and more, and would stay in our peak. */
static int read_kallsyms(struct kernel_symbols *symbols, int fd)
{
	_cleanup_free_ char *buffer = xmalloc(READ_SIZE);
	size_t kept = 0, taken;
	ssize_t n;

	while ((n = read(fd, buffer + kept, READ_SIZE - kept)) > 0) {
		kept += (size_t)n;
		taken = add_lines(symbols, buffer, kept);
		kept -= taken;
		memmove(buffer, buffer + taken, kept);
		if (kept == READ_SIZE)
			return -EBADMSG;
	}
	return n < 0 ? -errno : 0;
}

/* ELF notes: sizes of name and content, type, then both padded to four bytes. */
static bool find_build_id(const char *notes, size_t len, char *ret_hex, size_t size)
{
	const uint32_t type_build_id = 3; /* NT_GNU_BUILD_ID */
	uint32_t header[3];

	while (len >= sizeof(header)) {
		uint64_t name_len, total;

		memcpy(header, notes, sizeof(header));
		name_len = ((uint64_t)header[0] + 3) & ~3ULL;
		total = sizeof(header) + name_len + (((uint64_t)header[1] + 3) & ~3ULL);
		if (total > len)
			return false;
		if (header[2] == type_build_id && header[0] == 4 && header[1] > 0 &&
		    2 * (size_t)header[1] < size && memcmp(notes + sizeof(header), "GNU", 4) == 0) {
			const char *id = notes + sizeof(header) + name_len;

			for (size_t i = 0; i < header[1]; i++)
				snprintf(ret_hex + 2 * i, 3, "%02x", (unsigned char)id[i]);
			return true;
		}
		notes += total;
		len -= total;
	}
	return false;
}

static void read_build_id(struct kernel_symbols *symbols)
{
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;

	if (file_read("/sys/kernel/notes", MAX_NOTES, &notes) == 0)
		find_build_id(strbuf_str(&notes), notes.len, symbols->build_id,
			      sizeof(symbols->build_id));
}

static int read_symbols(const char *types, struct kernel_symbols **ret_symbols, struct err *err)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = new_symbols(types);
	_cleanup_close_ int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : read_kallsyms(symbols, fd);

	if (r < 0)
		return err_sys(err, r, "cannot read the kernel's symbols from /proc/kallsyms");
	if (symbols->items.len == 0) {
		err_set(err, -EPERM, "the kernel hides its symbols' addresses in /proc/kallsyms");
		return err_hint(err, "run as root, or set the sysctl kernel.kptr_restrict to 0");
	}
	finish(symbols);
	read_build_id(symbols);
	*ret_symbols = TAKE_PTR(symbols);
	return 0;
}

int kernel_symbols_new(struct kernel_symbols **ret_symbols, struct err *err)
{
	return read_symbols(CODE_TYPES, ret_symbols, err);
}

int kernel_symbols_new_data(struct kernel_symbols **ret_symbols, struct err *err)
{
	return read_symbols(DATA_TYPES, ret_symbols, err);
}

const char *kernel_symbols_at(const struct kernel_symbols *symbols, uint64_t address)
{
	const struct kernel_symbol *items = symbols->items.items;
	size_t i = upper_bound(items, symbols->items.len, address);

	if (i == 0 || items[i - 1].address != address)
		return NULL;
	return strbuf_str(&symbols->names) + items[i - 1].name;
}

bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
			 const char **ret_name, const char **ret_module)
{
	const struct kernel_symbol *items = symbols->items.items;
	size_t i = upper_bound(items, symbols->items.len, address);

	if (i == 0)
		return false;
	*ret_name = strbuf_str(&symbols->names) + items[i - 1].name;
	*ret_module = intern_get(&symbols->modules, items[i - 1].module, NULL);
	return true;
}

const char *kernel_symbols_build_id(const struct kernel_symbols *symbols)
{
	return symbols->build_id;
}
