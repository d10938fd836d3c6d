// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_serve_file.h"

#include <string.h>

#include "base/alloc.h"
#include "elf/reader/reader_call.h"

_Static_assert(sizeof(struct reader_usdt) <= WALL_DATA_BYTES, "an answer fits");

/* In .dynsym and .symtab it is the same one. */
static void note_object(const struct elf_object *object, void *data)
{
	struct reader_objects *objects = data;

	for (uint32_t i = 0; i < objects->count; i++)
		if (objects->object[i].address == object->address)
			return;
	if (objects->count < READER_MAX_OBJECTS)
		objects->object[objects->count++] = *object;
}

static int64_t tell_objects(struct wall_call *call, struct elf_file *file, const char *name)
{
	struct reader_objects *objects = (void *)call->data;

	objects->count = 0;
	elf_file_limit_reads(file, call->len);
	elf_file_for_each_object(file, name, note_object, objects);
	return (int64_t)(offsetof(struct reader_objects, object) +
			 objects->count * sizeof(objects->object[0]));
}

static void note_place(const struct usdt_note *note, void *data)
{
	struct reader_usdt *usdt = data;

	if (usdt->count < READER_MAX_USDT)
		usdt->note[usdt->count] = *note;
	usdt->count++;
}

static int64_t tell_usdt(struct wall_call *call, struct elf_file *file, const char *provider,
			 const char *name)
{
	struct reader_usdt *usdt = (void *)call->data;

	usdt->count = 0;
	elf_file_limit_reads(file, call->len);
	usdt_notes_find(file, provider, name, note_place, usdt);
	return (int64_t)(offsetof(struct reader_usdt, note) +
			 MIN(usdt->count, (uint32_t)READER_MAX_USDT) * sizeof(usdt->note[0]));
}

int64_t reader_serve_probe(struct wall_call *call, int fd, struct err *err)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	/* The answer goes where the names are. */
	_cleanup_free_ char *first = xstrndup((const char *)call->data, READER_PIECE_BYTES);
	_cleanup_free_ char *second = NULL;
	int r = elf_file_open(fd, &file, err);

	if (r < 0)
		return r;
	if (call->op == READER_OBJECTS)
		return tell_objects(call, file, first);
	second = xstrndup((const char *)call->data + strlen(first) + 1, READER_PIECE_BYTES);
	return tell_usdt(call, file, first, second);
}
