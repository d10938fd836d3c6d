// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/file.h"
#include "elf/elf_file.h"
#include "elf/symbols.h"

/* Local and never inlined: only .symtab knows it. */
static __attribute__((noinline)) int elf_test_local(int x)
{
	__asm__ volatile("");
	return x + 1;
}

int elf_test_global(int x);

__attribute__((noinline, visibility("default"))) int elf_test_global(int x)
{
	__asm__ volatile("");
	return x + 2;
}

static int open_own(struct elf_file **ret_file)
{
	struct err err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(fd, ret_file, &err), 0);
	return fd;
}

/* The build id note and the load bias as the loader knows them. */
struct loaded {
	uint64_t bias;
	char build_id[129];
	int segments;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *loaded = data;

	(void)size;
	loaded->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const char *note = (const char *)(info->dlpi_addr + header->p_vaddr);
		const char *end = note + header->p_filesz;

		loaded->segments += header->p_type == PT_LOAD;
		while (header->p_type == PT_NOTE && note + 12 < end) {
			uint32_t words[3];

			memcpy(words, note, sizeof(words));
			if (words[2] == 3 && words[0] == 4)
				for (uint32_t k = 0; k < words[1]; k++)
					snprintf(loaded->build_id + 2 * k, 3, "%02x",
						 (unsigned char)note[16 + k]);
			note += 12 + ((words[0] + 3) & ~3U) + ((words[1] + 3) & ~3U);
		}
	}
	return 1; /* the program is the first object */
}

static void build_id_and_segments_of_own_file(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	const struct elf_segment *segments;
	struct loaded loaded = { 0 };
	char build_id[129];

	(void)state;
	dl_iterate_phdr(look_at_object, &loaded);
	assert_int_equal(strlen(loaded.build_id), 40);
	assert_int_equal(elf_file_build_id(file, build_id, sizeof(build_id)), 0);
	assert_string_equal(build_id, loaded.build_id);
	assert_int_equal(elf_file_segments(file, &segments), loaded.segments);
	elf_file_close(TAKE_PTR(file));
}

static void a_build_id_that_does_not_fit(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	char build_id[16] = "x";

	(void)state;
	assert_int_equal(elf_file_build_id(file, build_id, sizeof(build_id)), -ENODATA);
	assert_string_equal(build_id, "");
	elf_file_close(TAKE_PTR(file));
}

static void addresses_of_own_symbols(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	struct loaded loaded = { 0 };
	uint64_t address;

	(void)state;
	dl_iterate_phdr(look_at_object, &loaded);
	assert_int_equal(elf_file_find_symbol(file, "elf_test_local", &address), 0);
	assert_int_equal(address + loaded.bias, (uintptr_t)elf_test_local);
	assert_int_equal(elf_file_find_symbol(file, "elf_test_global", &address), 0);
	assert_int_equal(address + loaded.bias, (uintptr_t)elf_test_global);
	assert_int_equal(elf_file_find_symbol(file, "no such symbol", &address), -ENODATA);
	assert_true(elf_file_has_symtab(file));
	assert_true(elf_test_local(1) + elf_test_global(1) == 5);
	elf_file_close(TAKE_PTR(file));
}

struct seen {
	const char *name;
	uint64_t address, size;
	int times;
};

static void note_function(const char *name, uint64_t address, uint64_t size, void *data)
{
	struct seen *seen = data;

	if (strcmp(name, seen->name) == 0) {
		seen->address = address;
		seen->size = size;
		seen->times++;
	}
}

static void functions_are_visited(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	struct seen seen = { .name = "elf_test_local" }, variable = { .name = "stdout" };

	(void)state;
	elf_file_for_each_function(file, note_function, &seen);
	assert_int_equal(seen.times, 1);
	assert_true(seen.size > 2 && seen.size < 100);
	elf_file_for_each_function(file, note_function, &variable);
	assert_int_equal(variable.times, 0);
	elf_file_close(TAKE_PTR(file));
}

static void note_plt(const struct elf_raw_symbol *symbol, void *data)
{
	*(int *)data += strcmp(symbol->name, "elf_end@plt") == 0 && symbol->size == 16;
}

static void plt_entries_have_names(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	int found = 0;

	(void)state;
	elf_file_for_each_raw_symbol(file, note_plt, &found);
	assert_int_equal(found, 1); /* libelf is linked dynamically */
	elf_file_close(TAKE_PTR(file));
}

struct plt_check {
	uint64_t bias;
	int entries, bound;
};

/* The entry jumps through a slot; once it is bound, the function of that name is in it. */
static void check_plt(const struct elf_raw_symbol *symbol, void *data)
{
	struct plt_check *check = data;
	const unsigned char *code =
		(const unsigned char *)(check->bias + symbol->address); /* NOLINT */
	size_t name_len = strlen(symbol->name), at = 0;
	char name[128];
	int32_t displacement;
	void *bound;

	if (name_len < 4 || strcmp(symbol->name + name_len - 4, ELF_PLT_SUFFIX) != 0)
		return;
	check->entries++;
	while (at < 10 && (code[at] != 0xff || code[at + 1] != 0x25))
		at++;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	memcpy(&bound, code + at + 6 + displacement, sizeof(bound));
	snprintf(name, sizeof(name), "%.*s", (int)(name_len - 4), symbol->name);
	check->bound += bound == dlsym(RTLD_DEFAULT, name);
}

static void plt_entries_lead_to_their_functions(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	struct plt_check check = { .entries = 0 };
	uint64_t own = 0;

	(void)state;
	elf_file_find_symbol(file, "elf_test_local", &own);
	check.bias = (uintptr_t)elf_test_local - own;
	elf_file_for_each_raw_symbol(file, check_plt, &check);
	/* Of a program that binds late, those that were called. */
	assert_true(check.entries > 10);
	assert_true(check.bound * 3 > check.entries);
	elf_file_close(TAKE_PTR(file));
}

/* Symbol tables and their strings, as the section headers say. */
static void bytes_of_symbols(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	Elf64_Shdr sections[128];
	Elf64_Ehdr header;
	uint64_t expected = 0;

	(void)state;
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	assert_true(header.e_shnum <= ARRAY_SIZE(sections));
	assert_true(pread(fd, sections, header.e_shnum * sizeof(sections[0]),
			  (off_t)header.e_shoff) > 0);
	for (int i = 0; i < header.e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM)
			expected += sections[i].sh_size + sections[sections[i].sh_link].sh_size;
	assert_int_equal(elf_file_symbol_bytes(file), expected);
	elf_file_close(TAKE_PTR(file));
}

static void sections_end(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open_own(&file);
	uint64_t address, end;

	(void)state;
	assert_int_equal(elf_file_find_symbol(file, "elf_test_local", &address), 0);
	end = elf_file_section_end(file, address);
	assert_true(end > address);
	assert_true(end - address < 10000000);
	assert_int_equal(elf_file_section_end(file, UINT64_MAX), 0);
	elf_file_close(TAKE_PTR(file));
}

static void the_vdso_in_memory(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	struct err err;
	uint64_t address;
	char build_id[129];

	(void)state;
	if (!vdso)
		skip();
	assert_int_equal(elf_file_open_memory(vdso, 2 * 4096UL, &file, &err), 0);
	assert_int_equal(elf_file_find_symbol(file, "__vdso_clock_gettime", &address), 0);
	assert_true(address > 0 && address < 2 * 4096UL);
	assert_int_equal(elf_file_build_id(file, build_id, sizeof(build_id)), 0);
}

static void what_is_no_elf_file(void **state)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct err err;

	(void)state;
	assert_int_equal(elf_file_open(fd, &file, &err), -EBADMSG);
	assert_string_equal(err.text, "not an ELF file");
	assert_int_equal(elf_file_open_memory("\177ELF", 4, &file, &err), -EBADMSG);
	assert_int_equal(elf_file_open_memory("", 0, &file, &err), -EBADMSG);
	assert_null(file);
}

static void use_all_of(const void *data, size_t len)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_strbuf_ struct strbuf inner = STRBUF_INIT;
	struct symbols_builder builder = { 0 };
	struct symbols symbols;
	struct elf_symbol symbol;
	struct err err;
	char text[129];
	uint32_t crc;

	if (elf_file_open_memory(data, len, &file, &err) < 0)
		return;
	elf_file_build_id(file, text, sizeof(text));
	elf_file_debuglink(file, text, sizeof(text), &crc);
	elf_file_debugdata(file, 64U << 20, &inner, &err);
	symbols_builder_add(&builder, file);
	symbols_build(&builder, file, &symbols);
	symbols_find(&symbols, 0x1234, &symbol);
	symbols_release(&symbols);
}

/* Cut at many places, and with bytes of its headers turned over: no crash, no endless loop. */
static void damaged_files(void **state)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	size_t headers;

	(void)state;
	assert_int_equal(file_read("/proc/self/exe", 64 << 20, &bytes), 0);
	for (size_t cut = 0; cut < bytes.len; cut += bytes.len / 50 + 1) {
		_cleanup_free_ void *copy = xmemdup(bytes.buf, cut);

		use_all_of(copy, cut);
	}
	headers = MIN(bytes.len, (size_t)1024);
	for (size_t i = 16; i < headers; i += 3) {
		bytes.buf[i] = (char)~bytes.buf[i];
		use_all_of(bytes.buf, bytes.len);
		bytes.buf[i] = (char)~bytes.buf[i];
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_id_and_segments_of_own_file),
		cmocka_unit_test(a_build_id_that_does_not_fit),
		cmocka_unit_test(addresses_of_own_symbols),
		cmocka_unit_test(functions_are_visited),
		cmocka_unit_test(plt_entries_have_names),
		cmocka_unit_test(plt_entries_lead_to_their_functions),
		cmocka_unit_test(bytes_of_symbols),
		cmocka_unit_test(sections_end),
		cmocka_unit_test(the_vdso_in_memory),
		cmocka_unit_test(what_is_no_elf_file),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
