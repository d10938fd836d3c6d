// SPDX-License-Identifier: Apache-2.0
/* What the instructions say by which Go's runtime goes to another stack: as Go 1.20 and 1.26 made them. */
#include "test.h"

#include <string.h>

#include "base/macros.h"
#include "elf/go/go_switch.h"

#define TEXT 0x401000ULL

struct made {
	const char *bytes;
	size_t len;
};

#define CODE(text) ((struct made){ text, sizeof(text) - 1 })

/* mov %rsp,%rbp is what later ones have in front. */
static const struct made systemstack_120 =
	CODE("\x48\x8b\x7c\x24\x08"		    /* mov 0x8(%rsp),%rdi */
	     "\x48\x39\x83\xc0\0\0\0"		    /* cmp %rax,0xc0(%rbx) */
	     "\x48\x89\xdc"			    /* mov %rbx,%rsp */
	     "\x48\x89\xfa\x48\x8b\x3f"		    /* mov %rdi,%rdx; mov (%rdi),%rdi */
	     "\xff\xd7"				    /* call *%rdi */
	     "\x64\x48\x8b\x04\x25\xf8\xff\xff\xff" /* mov %fs:-8,%rax */
	     "\x48\x8b\x58\x30"			    /* mov 0x30(%rax),%rbx */
	     "\x48\x8b\x83\xc0\0\0\0");		    /* mov 0xc0(%rbx),%rax */

static const struct made systemstack_126 =
	CODE("\x55\x48\x89\xe5"				    /* push %rbp; mov %rsp,%rbp */
	     "\x48\x3b\x83\xb8\0\0\0"			    /* cmp 0xb8(%rbx),%rax */
	     "\x48\x8b\x62\x38"				    /* mov 0x38(%rdx),%rsp */
	     "\xff\xd7"					    /* call *%rdi */
	     "\x48\xc7\xc1\xf8\xff\xff\xff\x64\x48\x8b\x01" /* mov $-8,%rcx; mov %fs:(%rcx),%rax */
	     "\x48\x8b\x58\x30"				    /* mov 0x30(%rax),%rbx */
	     "\x48\x8b\x83\xb8\0\0\0");			    /* mov 0xb8(%rbx),%rax */

static const struct made mcall_120 = CODE("\x49\x89\xc6"     /* mov %rax,%r14 */
					  "\x49\x8b\x66\x38" /* mov 0x38(%r14),%rsp */
					  "\x50"	     /* push %rax */
					  "\x41\xff\xd4");   /* call *%r12 */

static const struct made mcall_121 = CODE("\x55\x48\x89\xe5" /* push %rbp; mov %rsp,%rbp */
					  "\x49\x8b\x66\x38" /* mov 0x38(%r14),%rsp */
					  "\x50"	     /* push %rax */
					  "\x41\xff\xd4");   /* call *%r12 */

static const struct made clone_126 = CODE("\x0f\x05"	     /* syscall */
					  "\x89\x44\x24\x30" /* mov %eax,0x30(%rsp) */
					  "\xc3"	     /* ret */
					  "\x48\x89\xf4"     /* mov %rsi,%rsp */
					  "\x41\xff\xd4");   /* call *%r12 */

static const struct made asmcgocall_120 = CODE("\x48\x8b\x44\x24\x08" /* mov 0x8(%rsp),%rax */
					       "\x48\x89\xe2"	      /* mov %rsp,%rdx */
					       "\x48\x8b\x66\x38"     /* mov 0x38(%rsi),%rsp */
					       "\x48\x83\xec\x40"     /* sub $64,%rsp */
					       "\xff\xd0"	      /* call *%rax */
					       "\x48\x2b\x74\x24\x28" /* sub 0x28(%rsp),%rsi */
					       "\x48\x89\xf4\xc3"     /* mov %rsi,%rsp; ret */
					       "\x48\x83\xec\x40"     /* sub $64,%rsp */
					       "\x48\x89\x54\x24\x28" /* mov %rdx,0x28(%rsp) */
					       "\xff\xd0"	      /* call *%rax */
					       "\x48\x8b\x74\x24\x28" /* mov 0x28(%rsp),%rsi */
					       "\x48\x89\xf4\xc3");   /* mov %rsi,%rsp; ret */

static const struct made morestack_120 =
	CODE("\x64\x48\x8b\x1c\x25\xf8\xff\xff\xff" /* mov %fs:-8,%rbx */
	     "\x48\x89\x6c\x24\x08"		    /* mov %rbp,0x8(%rsp) */
	     "\x48\x89\x6e\x68"			    /* mov %rbp,0x68(%rsi) */
	     "\x48\x8b\x63\x38"			    /* mov 0x38(%rbx),%rsp */
	     "\xe8\0\0\0\0\xe8\0\0\0\0\xc3");	    /* call newstack; call abort; ret */

static const struct made morestack_126_pie =
	CODE("\x48\xc7\xc1\xf0\xff\xff\xff\x64\x48\x8b\x39" /* mov $-16,%rcx; mov %fs:(%rcx),%rdi */
	     "\x48\x89\x6f\x60"				    /* mov %rbp,0x60(%rdi) */
	     "\x48\x8b\x63\x38"				    /* mov 0x38(%rbx),%rsp */
	     "\x48\xc7\xc5\0\0\0\0"			    /* mov $0,%rbp */
	     "\xe8\0\0\0\0\xe8\0\0\0\0\xc3");

static bool look(struct go_switch *s, const char *name, struct made code)
{
	struct cfi_reader reader;
	struct go_table table = { .reader = &reader, .at = { .code = -TEXT } };
	const struct go_function function = { .start = TEXT, .end = TEXT + code.len };
	bool r;

	cfi_reader_init_memory(&reader, code.bytes, code.len);
	r = go_switch_look(s, &table, &function, name);
	cfi_reader_release(&reader);
	return r;
}

static void of_go_1_20(void **state)
{
	struct go_switch s = { 0 };

	(void)state;
	assert_false(look(&s, "runtime.systemstack.abi0", systemstack_120));
	assert_int_equal(s.systemstack.start - TEXT, 15);
	assert_int_equal(s.systemstack.end - TEXT, 23);
	assert_int_equal(s.curg, 0xc0);
	assert_false(look(&s, "runtime.mcall", mcall_120));
	assert_int_equal(s.mcall.start - TEXT, 7);
	assert_int_equal(s.mcall.end - TEXT, 11);
	assert_false(s.make_frames);
	assert_false(look(&s, "runtime.asmcgocall.abi0", asmcgocall_120));
	assert_int_equal(s.asmcgocall.start - TEXT, 12);
	assert_int_equal(s.asmcgocall.end - TEXT, 26);
	assert_int_equal(s.nosave.start - TEXT, 36);
	assert_int_equal(s.nosave.end - TEXT, 46);
	assert_int_equal(s.nosave_at, 0x28);
	assert_false(go_switch_has_goroutine(&s));
	assert_true(look(&s, "runtime.morestack.abi0", morestack_120));
	assert_int_equal(s.morestack.start - TEXT, 22);
	assert_int_equal(s.morestack.end - TEXT, morestack_120.len);
	assert_int_equal(s.g_slot, 1);
	assert_int_equal(s.bp_slot, 0x68 / 8);
	assert_true(go_switch_has_goroutine(&s));
}

/* It saves the frame pointer: nothing more needs to be known of the switch. */
static void of_go_1_26(void **state)
{
	struct go_switch s = { 0 };

	(void)state;
	look(&s, "runtime.systemstack", systemstack_126);
	look(&s, "runtime.morestack", morestack_126_pie);
	look(&s, "runtime.mcall", mcall_121);
	assert_int_equal(s.mcall.start - TEXT, 8);
	assert_int_equal(s.mcall.end - TEXT, 12);
	assert_true(s.make_frames);
	look(&s, "runtime.clone.abi0", clone_126);
	assert_int_equal(s.thread.start - TEXT, 7);
	assert_int_equal(s.thread.end - TEXT, clone_126.len);
	assert_int_equal(s.systemstack.start - TEXT, 15);
	assert_int_equal(s.systemstack.end - TEXT, 17);
	assert_int_equal(s.curg, 0xb8);
	assert_int_equal(s.morestack.start - TEXT, 19);
	assert_int_equal(s.g_slot, 2);
	assert_int_equal(s.bp_slot, 0x60 / 8);
	assert_true(go_switch_has_goroutine(&s));
}

static void of_others(void **state)
{
	static const char *const names[] = { "runtime.systemstack_switch",
					     "runtime.morestack_noctxt",
					     "runtime.mcal",
					     "main.morestack",
					     "runtime.morestack.abi",
					     "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct go_switch s = { 0 };

		assert_false(look(&s, names[i], morestack_120));
		assert_false(look(&s, names[i], systemstack_120));
		assert_int_equal(s.curg + s.g_slot + s.bp_slot + s.morestack.end, 0);
	}
}

/* MADE with its byte at AT changed. */
static struct made changed(struct made made, size_t at, char byte)
{
	static char copy[128];

	memcpy(copy, made.bytes, made.len);
	copy[at] = byte;
	return (struct made){ copy, made.len };
}

/* The code is somebody else's: what fits no rule is not known. */
static void of_hostile_code(void **state)
{
	struct go_switch s = { 0 };

	(void)state;
	/* a call that comes before the stack is left */
	look(&s, "runtime.mcall", CODE("\x41\xff\xd4\x49\x8b\x66\x38"));
	look(&s, "runtime.systemstack", CODE("\xff\xd7\x48\x89\xdc"));
	assert_true(s.mcall.end == 0 && s.systemstack.end == 0);
	look(&s, "runtime.clone", CODE("\x48\x89\xf4\xc3"));
	assert_int_equal(s.thread.end, 0);
	/* curg: not in an m, not a word's place, cut */
	look(&s, "runtime.systemstack", changed(systemstack_120, systemstack_120.len - 3, 0x11));
	look(&s, "runtime.systemstack",
	     changed(systemstack_120, systemstack_120.len - 1, (char)0x80));
	look(&s, "runtime.systemstack", changed(systemstack_120, systemstack_120.len - 4, 0x04));
	look(&s, "runtime.systemstack",
	     (struct made){ systemstack_120.bytes, systemstack_120.len - 2 });
	look(&s, "runtime.systemstack", (struct made){ systemstack_120.bytes, 0 });
	assert_int_equal(s.curg, 0);
	/* g: above %fs, not a word's place, in another register's segment */
	look(&s, "runtime.morestack", changed(morestack_120, 8, 0));
	assert_int_equal(s.g_slot, 0);
	look(&s, "runtime.morestack", changed(morestack_120, 5, (char)0xfc));
	assert_int_equal(s.g_slot, 0);
	look(&s, "runtime.morestack", changed(morestack_120, 0, 0x65));
	assert_int_equal(s.g_slot, 0);
	assert_false(go_switch_has_goroutine(&s));
	/* where the stack is left is not seen: all of it is taken for the other one */
	look(&s, "runtime.morestack", changed(morestack_120, 21, 0x40));
	assert_int_equal(s.morestack.start, TEXT);
	assert_int_equal(s.morestack.end, TEXT + morestack_120.len);
	for (size_t len = 0; len < morestack_126_pie.len; len++)
		look(&s, "runtime.morestack", (struct made){ morestack_126_pie.bytes, len });
	for (size_t len = 0; len < mcall_120.len; len++) {
		look(&s, "runtime.mcall", (struct made){ mcall_120.bytes, len });
		assert_int_equal(s.mcall.start, s.mcall.end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_go_1_20),
		cmocka_unit_test(of_go_1_26),
		cmocka_unit_test(of_others),
		cmocka_unit_test(of_hostile_code),
	};

	return cmocka_run_group_tests_name("go_switch", tests, NULL, NULL);
}
