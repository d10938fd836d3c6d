// SPDX-License-Identifier: Apache-2.0
/* Where a file's bytes come from, and which files are refused. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfi_frames.h"

static void assert_cfa(struct wire_rule rule, int reg, int offset)
{
	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(rule.cfa_reg, reg);
	assert_int_equal(rule.cfa_offset, offset);
}

static void addresses_by_file_offset(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };
	uint64_t address;

	(void)state;
	frames_usual_cie(&f);
	frames_open(&f, &parts, true);
	assert_true(cfi_file_address(f.file, CFI_TEXT + 5, &address));
	assert_int_equal(address, CFI_TEXT + 5);
	assert_false(cfi_file_address(f.file, CFI_TEXT - 1, &address));
	assert_false(cfi_file_address(f.file, CFI_EH_FRAME, &address));
	assert_string_equal(cfi_file_build_id(f.file), "");
}

static void other_machines_are_refused(void **state)
{
	_cleanup_strbuf_ struct strbuf elf = STRBUF_INIT;
	struct cfi_parts parts = { .machine = EM_AARCH64 };
	struct cfi_file *file = NULL;
	struct err err;

	(void)state;
	cfi_elf_build(&parts, &elf);
	assert_int_equal(cfi_file_open_memory(elf.buf, elf.len, &file, &err), -EBADMSG);
	elf.buf[EI_CLASS] = ELFCLASS32;
	assert_int_equal(cfi_file_open_memory(elf.buf, elf.len, &file, &err), -EBADMSG);
	assert_int_equal(cfi_file_open_memory("no", 2, &file, &err), -EBADMSG);
	assert_null(file);
}

/* The descriptor is taken over, also on failure; the build id is the note's. */
static void a_file_by_its_descriptor(void **state)
{
	struct cfi_file *file = NULL;
	struct cfi_rows rows = { VEC_INIT };
	uint64_t address;
	struct err err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(cfi_file_open(fd, &file, &err), 0);
	assert_int_equal(strlen(cfi_file_build_id(file)), 40);
	for (uint64_t offset = 0; !cfi_file_address(file, offset, &address);)
		offset += WIRE_PAGE_BYTES;
	assert_int_equal(cfi_file_page(file, address, &rows, &err), 0);
	assert_in_range(cfi_file_bytes(file), 1000, 200000);
	cfi_file_close(file);
	vec_release(&rows.v);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(cfi_file_open(fd, &file, &err), -EBADMSG);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* Cut after it was opened: rows that cannot be read are unknown, and nothing is worse. */
static void a_file_that_is_cut_under_us(void **state)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };
	struct cfi_file *file = NULL;
	struct err err;
	int fd = memfd_create("cut", MFD_CLOEXEC);

	(void)state;
	frames_usual_cie(&f);
	frames_fde(&f, 0x1100, 0x10, PROGRAM(DW_CFA_nop));
	frames_open(&f, &parts, true);
	assert_int_equal(write(fd, f.elf.buf, f.elf.len), f.elf.len);
	assert_int_equal(cfi_file_open(fd, &file, &err), 0);
	assert_int_equal(cfi_file_page(file, 0x1100, &f.rows, &err), 0);
	assert_cfa(frames_rule(&f.rows, 0x1100), 7, 8);
	assert_int_equal(ftruncate(fd, 0x4000), 0);
	assert_int_equal(cfi_file_page(file, 0x1100, &f.rows, &err), 0);
	assert_int_equal(frames_rule(&f.rows, 0x1100).kind, WIRE_RULE_NONE);
	cfi_file_close(file);
}

static void the_vdso_from_memory(void **state)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	struct cfi_rows rows = { VEC_INIT };
	struct cfi_file *file;
	uint64_t address;
	struct err err;
	size_t described = 0;

	(void)state;
	if (!vdso)
		skip();
	assert_int_equal(cfi_file_open_memory(vdso, 8192, &file, &err), 0);
	assert_true(cfi_file_build_id(file)[0]);
	for (uint64_t offset = 0; offset < 8192; offset += WIRE_PAGE_BYTES) {
		if (!cfi_file_address(file, offset, &address))
			continue;
		assert_int_equal(cfi_file_page(file, address, &rows, &err), 0);
		for (size_t i = 0; i < rows.v.len; i++)
			described += rows.v.items[i].rule.kind == WIRE_RULE_CFA;
	}
	assert_true(described > 10);
	cfi_file_close(file);
	vec_release(&rows.v);
}

/* The digest of a file with one function, whose program is this, at START. */
static struct cfi_digest digest_of(uint64_t start, const uint8_t *program, size_t len,
				   bool with_hdr)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };
	struct cfi_digest digest = { 0 };

	frames_usual_cie(&f);
	frames_fde(&f, start, 0x20, program, len);
	frames_open(&f, &parts, with_hdr);
	assert_int_equal(cfi_file_digest(f.file, &digest), 0);
	return digest;
}

static bool same(struct cfi_digest a, struct cfi_digest b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void digests_are_of_all_that_rows_are_made_from(void **state)
{
	(void)state;
	for (int hdr = 0; hdr < 2; hdr++) {
		struct cfi_digest it = digest_of(
			0x1000, PROGRAM(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 24), hdr);

		assert_true(same(
			it, digest_of(0x1000,
				      PROGRAM(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 24),
				      hdr)));
		assert_false(same(
			it, digest_of(0x1000,
				      PROGRAM(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 32),
				      hdr)));
		assert_false(same(
			it, digest_of(0x1010,
				      PROGRAM(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 24),
				      hdr)));
		assert_true(it.words[0] && it.words[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_by_file_offset),
		cmocka_unit_test(other_machines_are_refused),
		cmocka_unit_test(a_file_by_its_descriptor),
		cmocka_unit_test(a_file_that_is_cut_under_us),
		cmocka_unit_test(the_vdso_from_memory),
		cmocka_unit_test(digests_are_of_all_that_rows_are_made_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
