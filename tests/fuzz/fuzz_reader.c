// SPDX-License-Identifier: Apache-2.0
/*
 * What a reader may answer: the input is a row of answers, each a byte that says whether the result is what an honest one
 * would say, eight bytes of another result, two of a length, and so many bytes of data.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "elf/image_content.h"
#include "elf/reader/reader_cfi.h"
#include "elf/reader/reader_file.h"
#include "elf/reader/reader_perf_map.h"
#include "elf/reader/reader_probe.h"
#include "wall/trade.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *at, *end;

static size_t take(void *to, size_t len)
{
	len = MIN(len, (size_t)(end - at));
	memcpy(to, at, len);
	at += len;
	return len;
}

/* Of an answer whose data is there already. */
static int64_t honest(const struct wall_call *call)
{
	const struct reader_cfi_opened *opened = (const void *)call->data;
	const struct reader_cfi_page *page = (const void *)call->data;
	const struct reader_file_said *said = (const void *)call->data;
	const struct reader_places *places = (const void *)call->data;
	const struct reader_objects *objects = (const void *)call->data;
	const struct reader_usdt *usdt = (const void *)call->data;
	const struct reader_perf_map *map = (const void *)call->data;

	switch (call->op) {
	case READER_IMAGE_OPEN: return sizeof(struct reader_image);
	case READER_IMAGE_END: return sizeof(struct reader_symbols);
	case READER_IMAGE_TAKE: return (int64_t)call->len;
	case READER_BUILD_ID: return BUILD_ID_BYTES;
	case READER_DEMANGLE: return sizeof(struct reader_name) + 100;
	case READER_FILE:
		return (int64_t)(offsetof(struct reader_file_said, segment) +
				 said->segments * sizeof(said->segment[0]));
	case READER_FIND: return 2 * sizeof(uint64_t);
	case READER_FUNCTIONS: return 2 * sizeof(struct reader_function);
	case READER_SONAME: return (int64_t)strnlen((const char *)call->data, NAME_MAX) + 1;
	case READER_PLACES:
		return (int64_t)(offsetof(struct reader_places, address) +
				 places->count * sizeof(places->address[0]));
	case READER_OBJECTS:
		return (int64_t)(offsetof(struct reader_objects, object) +
				 objects->count * sizeof(objects->object[0]));
	case READER_USDT:
		return (int64_t)(offsetof(struct reader_usdt, note) +
				 MIN(usdt->count, (uint32_t)READER_MAX_USDT) *
					 sizeof(usdt->note[0]));
	case READER_FAR_NAME: return sizeof(struct reader_name) + 100;
	case READER_GO_FRAMES: return (int64_t)go_frames_bytes((const void *)call->data);
	case READER_PERF_MAP:
	case READER_JIT_DUMP:
		return (int64_t)(offsetof(struct reader_perf_map, line) +
				 map->lines * sizeof(map->line[0]) + map->text_bytes);
	case READER_CFI_OPEN:
		return (int64_t)(offsetof(struct reader_cfi_opened, segment) +
				 opened->segments * sizeof(opened->segment[0]));
	case READER_CFI_DIGEST: return sizeof(struct cfi_digest);
	case READER_CFI_PAGE:
		return (int64_t)(offsetof(struct reader_cfi_page, row) +
				 page->rows * sizeof(page->row[0]));
	default: return 0;
	}
}

static int64_t carry_out(struct wall_call *call, int fd, int *ret_fd)
{
	uint8_t lies = 0;
	int64_t result = -1;
	uint16_t len = 0;

	(void)fd;
	*ret_fd = -1;
	take(&lies, 1);
	if (lies & 1)
		take(&result, sizeof(result));
	take(&len, sizeof(len));
	take(call->data, len);
	return lies & 1 ? result : honest(call);
}

static bool takes_file(uint32_t op)
{
	(void)op;
	return true;
}

static const struct trade liar = {
	.name = "liar", .is_hostile = true, .takes_file = takes_file, .carry_out = carry_out
};

static void read_image(int fd)
{
	struct image_content content;
	struct elf_symbol symbol;

	image_content_read(fd, 0, "file", 1U << 20, &content);
	for (size_t i = 0; i < content.symbols.ranges.len && i < 64; i++)
		symbols_find(&content.symbols, content.symbols.ranges.items[i].address, &symbol);
	symbols_find(&content.symbols, UINT64_MAX, &symbol);
	image_content_release(&content);
}

static void read_rows(int fd)
{
	struct cfi_rows rows = { 0 };
	struct cfi_digest digest;
	struct reader_cfi *cfi;
	struct err err;
	uint64_t address;

	if (reader_cfi_open(fd, 0, &cfi, &err) < 0)
		return;
	reader_cfi_address(cfi, 0x1000, &address);
	reader_cfi_digest(cfi, &digest);
	for (unsigned int i = 0; i < 4; i++)
		reader_cfi_page(cfi, i * 4096, &rows, &err);
	reader_cfi_close(cfi);
	vec_release(&rows.v);
}

static void read_file(int fd)
{
	static const char *const names[] = { "a", "b" };
	uint64_t addresses[2];
	struct reader_file file;
	struct err err;

	if (reader_file_read(fd, &file, &err) == 0)
		reader_file_release(&file);
	reader_find(fd, READER_FIND_SYMBOL, names, 2, addresses, &err);
}

static void read_places(int fd)
{
	static const char *const names[] = { "a", "b" };
	struct reader_function functions[2];
	static struct reader_objects objects;
	static struct reader_places places;
	static struct reader_usdt usdt;
	char soname[NAME_MAX + 1];
	struct err err;

	if (reader_soname(fd, soname, &err) == 0 && strnlen(soname, sizeof(soname)) > NAME_MAX)
		__builtin_trap();
	reader_functions(fd, names, 2, functions, &err);
	if (reader_places(fd, "a", 1U << 20, false, &places, &err) == 0 &&
	    places.count > READER_MAX_PLACES)
		__builtin_trap();
	reader_usdt(fd, "a", "b", 1U << 20, &usdt, &err);
	if (reader_objects(fd, "a", 1U << 20, &objects, &err) < 0)
		return;
	for (uint32_t i = 0; i < objects.count; i++)
		at += objects.object[i].is_global && at < end;
}

static void read_names(int fd)
{
	const struct go_place place = { .size = 64 };
	struct go_frames frames;
	bool cpp, late;
	char *name = reader_far_name(fd, 0, 16, 64, &cpp, &late);

	if (name && strlen(name) > READER_NAME_BYTES)
		__builtin_trap();
	free(name);
	if (reader_go_frames(fd, 0, &place, 0x1000, &frames) == 0 &&
	    !go_frames_are_sound(&frames, go_frames_bytes(&frames)))
		__builtin_trap();
}

static void read_map(int fd)
{
	static struct reader_perf_map map;
	struct err err;

	for (int dump = 0; dump < 2; dump++) {
		if ((dump ? reader_jit_dump : reader_perf_map)(fd, 0, 0, READER_MAP_BYTES, &map,
							       &err) < 0)
			continue;
		for (uint32_t i = 0; i < map.lines; i++)
			if (strlen(reader_map_name(&map, &map.line[i])) > READER_MAP_NAME)
				__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("file", MFD_CLOEXEC);
		if (fd < 0 || file_write_all(fd, "\177ELF", 4) < 0)
			return 0;
		reader_set_trade(&liar);
	}
	at = data;
	end = data + size;
	read_image(fd);
	read_rows(fd);
	read_file(fd);
	read_places(fd);
	read_names(fd);
	read_map(fd);
	return 0;
}
