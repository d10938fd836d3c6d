// SPDX-License-Identifier: Apache-2.0
/* gcc's functions around a program's own: their bytes (gcc 12), and those of real files. */
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "elf/cfi/cfi_crt.h"
#include "elf/cfi/cfi_file.h"
#include "elf/elf_file.h"

#define AT 0x1000UL

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* crtbeginS.o's __do_global_dtors_aux; push at 13, pop at 51 (0x33). */
static const uint8_t dtors[] = {
	0xf3, 0x0f, 0x1e, 0xfa,		       /* endbr64 */
	0x80, 0x3d, 0x25, 0x2f, 0,    0, 0,    /* cmpb $0,… */
	0x75, 0x2b,			       /* jne 56 */
	0x55,				       /* push %rbp */
	0x48, 0x83, 0x3d, 0xea, 0x2e, 0, 0, 0, /* cmpq $0,… */
	0x48, 0x89, 0xe5,		       /* mov %rsp,%rbp */
	0x74, 0x0c,			       /* je 39 */
	0x48, 0x8b, 0x3d, 0x06, 0x2f, 0, 0,    /* mov …,%rdi */
	0xe8, 0x29, 0xff, 0xff, 0xff,	       /* call __cxa_finalize@plt */
	0xe8, 0x64, 0xff, 0xff, 0xff,	       /* call deregister_tm_clones */
	0xc6, 0x05, 0xfd, 0x2e, 0,    0, 1,    /* movb $1,… */
	0x5d,				       /* pop %rbp */
	0xc3,				       /* ret */
	0x0f, 0x1f, 0,			       /* nopl */
	0xc3,				       /* 56: ret */
	0x0f, 0x1f, 0x80, 0,		       /* … */
};

static const uint8_t deregister[] = {
	0x48, 0x8d, 0x3d, 0x99, 0x2f, 0, 0, /* lea …,%rdi */
	0x48, 0x8d, 0x05, 0x92, 0x2f, 0, 0, /* lea …,%rax */
	0x48, 0x39, 0xf8, 0x74, 0x15,	    /* cmp; je 40 */
	0x48, 0x8b, 0x05, 0x3e, 0x2f, 0, 0, /* mov …,%rax */
	0x48, 0x85, 0xc0, 0x74, 0x09,	    /* test; je 40 */
	0xff, 0xe0,			    /* jmp *%rax */
	0x0f, 0x1f, 0x80, 0,	0,    0, 0, /* nopl */
	0xc3,				    /* 40: ret */
};

static void pushed_from_push_to_pop(void **state)
{
	struct cfi_crt crt;

	(void)state;
	assert_true(cfi_crt_match(dtors, sizeof(dtors), AT, &crt));
	assert_int_equal(crt.start, AT);
	assert_int_equal(crt.pushed, AT + 14);
	assert_int_equal(crt.popped, AT + 52);
	assert_int_equal(crt.end, AT + 57);
	assert_int_equal(crt.call_count, 2);
	assert_int_equal(crt.calls[0], AT + 39 - 0xd7);
	assert_int_equal(crt.calls[1], AT + 44 - 0x9c);
	assert_int_equal(crt.jump, 0);
	/* and without endbr64 */
	assert_true(cfi_crt_match(dtors + 4, sizeof(dtors) - 4, AT, &crt));
	assert_int_equal(crt.pushed, AT + 10);
	assert_int_equal(crt.end, AT + 53);
}

static void nothing_pushed(void **state)
{
	uint8_t code[sizeof(deregister)];
	struct cfi_crt crt;

	(void)state;
	assert_true(cfi_crt_match(deregister, sizeof(deregister), AT, &crt));
	assert_int_equal(crt.end, AT + sizeof(deregister));
	assert_int_equal(crt.pushed, crt.end);
	assert_int_equal(crt.popped, crt.end);
	/* static-pie: the linker made mov $0,%rax of the load */
	memcpy(code, deregister, sizeof(code));
	memcpy(code + 19, "\x48\xc7\xc0\0\0\0", 7);
	assert_true(cfi_crt_match(code, sizeof(code), AT, &crt));
	/* frame_dummy: endbr64; jmp, near and short */
	assert_true(cfi_crt_match(BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x77, 0xff, 0xff, 0xff), AT,
				  &crt));
	assert_int_equal(crt.jump, AT + 9 - 0x89);
	assert_int_equal(crt.end, AT + 9);
	assert_true(cfi_crt_match(BYTES(0xeb, 0x8a), AT, &crt));
	assert_int_equal(crt.jump, AT + 2 - 0x76);
}

/* Whatever byte of an opcode is another, and wherever the bytes end. */
static void other_code_is_not_known(void **state)
{
	static const uint8_t opcodes[] = { 0,  1,  2,  3,  4,  5,  11, 13, 14, 15, 16, 22, 23,
					   24, 25, 27, 28, 29, 34, 39, 44, 45, 51, 52, 56 };
	uint8_t code[sizeof(dtors)];
	struct cfi_crt crt;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		memcpy(code, dtors, sizeof(code));
		code[opcodes[i]] = 0xcc;
		assert_false(cfi_crt_match(code, sizeof(code), AT, &crt));
	}
	for (size_t len = 0; len < 57; len++)
		assert_false(cfi_crt_match(dtors, len, AT, &crt));
}

static void stacks_that_do_not_agree(void **state)
{
	struct cfi_crt crt;

	(void)state;
	/* returns with it pushed; pops what it did not push; pushes twice; pops twice */
	assert_false(cfi_crt_match(BYTES(0x55, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0x5d, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0x55, 0x5d, 0x55, 0x5d, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0x55, 0x55, 0x5d, 0x5d, 0xc3), AT, &crt));
	assert_true(cfi_crt_match(BYTES(0x55, 0x5d, 0xc3), AT, &crt));
	/* je from in front of the push to where it is pushed; into an instruction; back; too far */
	assert_false(cfi_crt_match(BYTES(0x74, 1, 0x55, 0x90, 0x5d, 0xc3), AT, &crt));
	assert_true(cfi_crt_match(BYTES(0x74, 3, 0x55, 0x90, 0x5d, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0x74, 1, 0x66, 0x90, 0xc3), AT, &crt));
	assert_true(cfi_crt_match(BYTES(0x74, 2, 0x66, 0x90, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0x74, 0xfe, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0x74, 9, 0xc3), AT, &crt));
	/* sets %rbp that is not saved; calls with the frame not set up; jumps within */
	assert_false(cfi_crt_match(BYTES(0x48, 0x89, 0xe5, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0xe8, 0, 1, 0, 0, 0xc3), AT, &crt));
	assert_false(cfi_crt_match(BYTES(0xeb, 0, 0xc3), AT, &crt));
}

/* So many calls and branches there are at most; a jump leads out of the function. */
static void more_than_gcc_makes(void **state)
{
	uint8_t code[CFI_CRT_MAX_BYTES + 16];
	struct cfi_crt crt;

	(void)state;
	for (size_t calls = 1; calls <= CFI_CRT_MAX_CALLS + 1; calls++) {
		size_t at = 0;

		code[at++] = 0x55;
		for (size_t i = 0; i < calls; i++, at += 5)
			memcpy(code + at, "\xe8\0\x10\0\0", 5);
		memcpy(code + at, "\x5d\xc3", 2);
		assert_int_equal(cfi_crt_match(code, at + 2, AT, &crt), calls <= CFI_CRT_MAX_CALLS);
		if (calls <= CFI_CRT_MAX_CALLS)
			assert_int_equal(crt.call_count, calls);
	}
	for (size_t branches = 1; branches <= 5; branches++) {
		for (size_t i = 0; i < branches; i++)
			memcpy(code + 2 * i, "\x74\0", 2);
		code[2 * branches] = 0xc3;
		assert_int_equal(cfi_crt_match(code, 2 * branches + 1, AT, &crt), branches <= 4);
	}
	/* Ends within its bytes, to the last. */
	memset(code, 0x90, sizeof(code));
	code[CFI_CRT_MAX_BYTES - 1] = 0xc3;
	assert_true(cfi_crt_match(code, sizeof(code), AT, &crt));
	assert_int_equal(crt.end, AT + CFI_CRT_MAX_BYTES);
	code[CFI_CRT_MAX_BYTES - 1] = 0x90;
	code[CFI_CRT_MAX_BYTES] = 0xc3;
	assert_false(cfi_crt_match(code, sizeof(code), AT, &crt));
}

static void where_jumps_lead(void **state)
{
	struct cfi_crt crt;

	(void)state;
	/* to its own first byte, to the byte before, behind all that it could be */
	assert_false(cfi_crt_match(BYTES(0xe9, 0xfb, 0xff, 0xff, 0xff), AT, &crt));
	assert_true(cfi_crt_match(BYTES(0xe9, 0xfa, 0xff, 0xff, 0xff), AT, &crt));
	assert_int_equal(crt.jump, AT - 1);
	assert_true(cfi_crt_match(BYTES(0xe9, 0, 1, 0, 0), AT, &crt));
	assert_int_equal(crt.jump, AT + 5 + 256);
	/* with %rbp on the stack */
	assert_false(cfi_crt_match(BYTES(0x55, 0xe9, 0, 0, 1, 0), AT, &crt));
	assert_true(cfi_crt_match(BYTES(0x55, 0x5d, 0xe9, 0, 0, 1, 0), AT, &crt));
	assert_int_equal(crt.pushed, AT + 1);
	assert_int_equal(crt.popped, AT + 2);
	assert_false(cfi_crt_match(BYTES(0x55, 0xff, 0xe0), AT, &crt));
	/* a branch over the end of one way: both ways are the function's */
	assert_true(cfi_crt_match(BYTES(0x74, 1, 0xc3, 0x90, 0xc3), AT, &crt));
	assert_int_equal(crt.end, AT + 5);
	assert_true(cfi_crt_match(BYTES(0x74, 0, 0xc3, 0x90, 0xc3), AT, &crt));
	assert_int_equal(crt.end, AT + 3);
	assert_true(cfi_crt_match(BYTES(0x75, 2, 0x74, 1, 0xc3, 0xc3), AT, &crt));
	assert_int_equal(crt.end, AT + 6);
}

/* --- files --- */

static struct wire_rule row_at(struct cfi_file *file, uint64_t address)
{
	struct cfi_rows rows = { VEC_INIT };
	struct wire_rule rule = { 0 };
	struct err err;

	assert_int_equal(cfi_file_page(file, address, &rows, &err), 0);
	for (size_t i = 0; i < rows.v.len; i++)
		if (rows.v.items[i].offset <= (address & (WIRE_PAGE_BYTES - 1)))
			rule = rows.v.items[i].rule;
	vec_release(&rows.v);
	return rule;
}

static void expect_row(struct cfi_file *file, uint64_t address, int32_t offset, unsigned int rbp)
{
	struct wire_rule rule = row_at(file, address);

	assert_int_equal(rule.kind, WIRE_RULE_CFA);
	assert_int_equal(rule.cfa_reg, 7);
	assert_int_equal(rule.cfa_offset, offset);
	assert_int_equal(rule.ra_slot, 1);
	assert_int_equal(rule.rbp_slot, rbp);
}

/* cmpb $0,…; jne; push %rbp: where that is in a file is __do_global_dtors_aux, without an FDE. */
static uint64_t search_dtors(int fd, struct elf_file *elf, uint8_t *code, size_t size)
{
	const struct elf_segment *segments;
	int count = elf_file_segments(elf, &segments);

	for (int k = 0; k < count; k++) {
		uint64_t end = MIN(segments[k].file_size, 4UL << 20);

		for (uint64_t at = 0; (segments[k].flags & 1) && at + size <= end; at += 16) {
			if (pread(fd, code, size, (off_t)(segments[k].offset + at)) ==
				    (ssize_t)size &&
			    memcmp(code, dtors, 6) == 0 && memcmp(code + 9, dtors + 9, 2) == 0 &&
			    code[11] == 0x75 && code[13] == 0x55)
				return segments[k].address + at;
		}
	}
	return 0;
}

static void check_file(const char *path)
{
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	_cleanup_(cfi_file_closep) struct cfi_file *file = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t code[57];
	uint64_t address;
	struct err err;

	if (fd < 0)
		return;
	assert_int_equal(elf_file_open(fd, &elf, &err), 0);
	address = search_dtors(fd, elf, code, sizeof(code));
	if (!address)
		return; /* another compiler's */
	assert_int_equal(cfi_file_open(dup(fd), &file, &err), 0);
	assert_int_equal(code[12] + 13, 56);
	assert_int_equal(code[51], 0x5d);
	expect_row(file, address, 8, WIRE_SLOT_SAME);
	expect_row(file, address + 13, 8, WIRE_SLOT_SAME);
	expect_row(file, address + 14, 16, 2);
	expect_row(file, address + 51, 16, 2);
	expect_row(file, address + 52, 8, WIRE_SLOT_SAME);
	expect_row(file, address + 56, 8, WIRE_SLOT_SAME);
	assert_int_equal(row_at(file, address + 57).kind, WIRE_RULE_NONE);
	/* deregister_tm_clones and its ret, register_tm_clones and its ret, frame_dummy's jmp */
	expect_row(file, address - 0x70, 8, WIRE_SLOT_SAME);
	expect_row(file, address - 0x70 + 40, 8, WIRE_SLOT_SAME);
	assert_int_equal(row_at(file, address - 0x70 + 41).kind, WIRE_RULE_NONE);
	expect_row(file, address - 0x40, 8, WIRE_SLOT_SAME);
	expect_row(file, address - 0x40 + 0x38, 8, WIRE_SLOT_SAME);
	assert_int_equal(row_at(file, address - 0x40 + 0x39).kind, WIRE_RULE_NONE);
	expect_row(file, address + 0x40, 8, WIRE_SLOT_SAME);
	expect_row(file, address + 0x40 + 4, 8, WIRE_SLOT_SAME);
}

static void files_of_this_machine(void **state)
{
	(void)state;
	check_file("/bin/true");
	check_file("/bin/ls");
	check_file("/lib/x86_64-linux-gnu/libselinux.so.1");
}

/* Where its symbols say that they are; it was compiled just now. */
static void this_program(void **state)
{
	static const char *const names[] = { "deregister_tm_clones", "register_tm_clones",
					     "__do_global_dtors_aux", "frame_dummy" };
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	_cleanup_(cfi_file_closep) struct cfi_file *file = NULL;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t address;
	struct err err;

	(void)state;
	assert_int_equal(elf_file_open(fd, &elf, &err), 0);
	assert_int_equal(cfi_file_open(dup(fd), &file, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(elf_file_find_symbol(elf, names[i], &address), 0);
		expect_row(file, address, 8, WIRE_SLOT_SAME);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_from_push_to_pop),
		cmocka_unit_test(nothing_pushed),
		cmocka_unit_test(other_code_is_not_known),
		cmocka_unit_test(stacks_that_do_not_agree),
		cmocka_unit_test(more_than_gcc_makes),
		cmocka_unit_test(where_jumps_lead),
		cmocka_unit_test(files_of_this_machine),
		cmocka_unit_test(this_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
