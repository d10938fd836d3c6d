// SPDX-License-Identifier: Apache-2.0
/* ELF headers, notes of build ids and probes, symbol tables, PLT, compressed symbols; then a look-up by address. */
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "elf/probe/usdt_notes.h"
#include "elf/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct elf_file *file)
{
	struct symbols_builder builder = { 0 };
	struct symbols symbols;
	struct elf_symbol symbol;

	symbols_builder_add(&builder, file);
	symbols_build(&builder, file, &symbols);
	for (size_t i = 0; i < symbols.ranges.len && i < 64; i++)
		symbols_find(&symbols, symbols.ranges.items[i].address, &symbol);
	symbols_find(&symbols, UINT64_MAX, &symbol);
	symbols_release(&symbols);
}

static void count_place(const struct usdt_note *note, void *data)
{
	*(uint64_t *)data += note->address + note->semaphore;
}

static void count_object(const struct elf_object *object, void *data)
{
	*(uint64_t *)data += object->address + object->size;
}

static void look_for_probes(struct elf_file *file)
{
	uint64_t sum = 0;

	usdt_notes_find(file, "libc", "setjmp", count_place, &sum);
	elf_file_for_each_object(file, "main", count_object, &sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_strbuf_ struct strbuf inner = STRBUF_INIT;
	char text[129];
	uint64_t address;
	uint32_t crc;
	struct err err;

	if (elf_file_open_memory(data, size, &file, &err) < 0)
		return 0;
	elf_file_build_id(file, text, sizeof(text));
	elf_file_debuglink(file, text, sizeof(text), &crc);
	elf_file_debugdata(file, 64U << 20, &inner, &err);
	elf_file_find_symbol(file, "main", &address);
	look_up(file);
	look_for_probes(file);
	return 0;
}
