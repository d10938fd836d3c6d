/* SPDX-License-Identifier: Apache-2.0 */
/* Where AllocTracer is in a library: names of each release, first bytes as Debian and Temurin build it, no symbols. */
#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfi_fixture.h"
#include "jvm/layout/alloc_tracer.h"
#include "made_elf.h"

#define NEW_17 \
	"_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP10JavaThread"
#define OUTSIDE_17 \
	"_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread"
#define NEW_11	   "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassP8HeapWordmmP6Thread"
#define OUTSIDE_11 "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassP8HeapWordmP6Thread"
#define NEW_8 \
	"_ZN11AllocTracer33send_allocation_in_new_tlab_eventE11KlassHandleP8HeapWordmmP6Thread"
#define OUTSIDE_8 \
	"_ZN11AllocTracer34send_allocation_outside_tlab_eventE11KlassHandleP8HeapWordmP6Thread"
#define NEW_OLD_8 "_ZN11AllocTracer33send_allocation_in_new_tlab_eventE11KlassHandlemm"

/* endbr64; push %rbp; xor %r8d,%r8d (Debian's 17) and push %rbp; mov %rsp,%rbp (Temurin's 25). */
static const unsigned char debian[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x45, 0x31, 0xc0 };
static const unsigned char temurin[] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56 };

#define AT_NEW	   0x2a70
#define AT_OUTSIDE 0x2ba0

/* A library with these two names (NULL: none) and this code, as a file. */
static int find(const char *new_tlab, const char *outside, const unsigned char *code,
		struct alloc_tracer *ret_tracer, struct err *err)
{
	struct libjvm lib = { .fd = memfd_create("libjvm.so", MFD_CLOEXEC) };
	struct made_symbols table;
	struct cfi_elf elf;
	int r;

	made_begin(&elf);
	cfi_elf_pad(&elf, CFI_TEXT + CFI_TEXT_SIZE);
	cfi_elf_segment(&elf, PT_LOAD, PF_R | PF_X, CFI_TEXT, CFI_TEXT_SIZE);
	made_symbols_begin(&table);
	made_function(&table, "_ZN11AllocTracer7nothingEv", 0x1000, 16);
	if (new_tlab)
		made_function(&table, new_tlab, AT_NEW, 16);
	if (outside)
		made_function(&table, outside, AT_OUTSIDE, 16);
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	elf_file_close(made_open(&elf, 0));
	memcpy(elf.bytes.buf + AT_NEW, code, 8);
	memcpy(elf.bytes.buf + AT_OUTSIDE, code, 8);
	assert_int_equal(write(lib.fd, elf.bytes.buf, elf.bytes.len), elf.bytes.len);
	assert_int_equal(reader_file_read(lib.fd, &lib.file, err), 0);
	r = alloc_tracer_find(&lib, 0, "/nowhere/libjvm.so", 8, ret_tracer, err);
	strbuf_release(&elf.bytes);
	libjvm_close(&lib);
	return r;
}

static void test_releases(void **state)
{
	static const char *const names[][2] = { { NEW_17, OUTSIDE_17 },
						{ NEW_11, OUTSIDE_11 },
						{ NEW_8, OUTSIDE_8 } };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct alloc_tracer tracer = { 0 };

		assert_int_equal(find(names[i][0], names[i][1], debian, &tracer, &err), 0);
		assert_int_equal(tracer.new_tlab, AT_NEW + 4);
		assert_int_equal(tracer.outside_tlab, AT_OUTSIDE + 4);
	}
}

static void test_without_endbr64(void **state)
{
	struct alloc_tracer tracer = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(find(NEW_17, OUTSIDE_17, temurin, &tracer, &err), 0);
	assert_int_equal(tracer.new_tlab, AT_NEW);
	assert_int_equal(tracer.outside_tlab, AT_OUTSIDE);
}

static void test_no_symbols(void **state)
{
	struct alloc_tracer tracer = { .new_tlab = 7 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(find(NULL, NULL, debian, &tracer, &err), -ENODATA);
	assert_string_equal(err.text,
			    "/nowhere/libjvm.so of process 0 has no symbols to see allocations by");
	assert_non_null(strstr(err.hint, "build id"));
	assert_int_equal(find(NEW_17, NULL, debian, &tracer, &err), -ENODATA);
	assert_int_equal(tracer.new_tlab, 7);
}

static void test_too_old(void **state)
{
	struct alloc_tracer tracer;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(find(NEW_OLD_8, NULL, debian, &tracer, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.hint, "8u262"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_without_endbr64),
		cmocka_unit_test(test_no_symbols),
		cmocka_unit_test(test_too_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
