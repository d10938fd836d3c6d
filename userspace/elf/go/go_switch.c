// SPDX-License-Identifier: Apache-2.0
#include "elf/go/go_switch.h"

#include <string.h>

#include "base/macros.h"

/* systemstack has some 110 bytes, morestack 130, asmcgocall 180. */
#define MAX_CODE 256
/* m has a few kB; m.curg is at 0xb8 or 0xc0. */
#define MAX_CURG 4096

struct code {
	uint8_t bytes[MAX_CODE];
	size_t len;
	uint64_t start, end; /* the function's addresses */
};

/* Where PATTERN is from FROM on, or the code's length. */
static size_t find(const struct code *code, size_t from, const void *pattern, size_t len)
{
	for (size_t i = from; i + len <= code->len; i++)
		if (!memcmp(code->bytes + i, pattern, len))
			return i;
	return code->len;
}

#define FIND(code, from, text) find(code, from, text, sizeof(text) - 1)

static int32_t number_at(const struct code *code, size_t at)
{
	int32_t number = 0;

	if (at + sizeof(number) <= code->len)
		memcpy(&number, code->bytes + at, sizeof(number));
	return number;
}

/* push %rbp; mov %rsp,%rbp */
static bool makes_frame(const struct code *code)
{
	return FIND(code, 0, "\x55\x48\x89\xe5") == 0;
}

/*
 * Before 1.21 systemstack, mcall and asmcgocall save no frame pointer: from the end of the instruction that loads %rsp to that of the
 * call of what is to run there %rbp is still the caller's.
 */
static void note_without_frame(struct go_code *ret, const struct code *code, size_t from, size_t to)
{
	if (!makes_frame(code))
		*ret = (struct go_code){ code->start + from, code->start + to };
}

/*
 * mov %rbx,%rsp, from 1.21 on mov 0x38(%rdx),%rsp; call *%rdi. Behind that the goroutine is looked for: mov 0x30(%rax),%rbx (g.m); mov m.curg(%rbx),%rax.
 */
static void look_at_systemstack(struct go_switch *s, const struct code *code)
{
	const bool frame = makes_frame(code);
	size_t loaded =
		frame ? FIND(code, 0, "\x48\x8b\x62\x38") + 4 : FIND(code, 0, "\x48\x89\xdc") + 3;
	size_t call = FIND(code, loaded, "\xff\xd7");
	size_t back = FIND(code, 0, "\x48\x8b\x58\x30\x48\x8b\x83");
	int32_t curg = number_at(code, back + 7);

	if (call < code->len)
		s->systemstack = (struct go_code){ code->start + loaded, code->start + call + 2 };
	s->make_frames |= frame;
	if (back < code->len && curg > 0 && curg < MAX_CURG && curg % 8 == 0)
		s->curg = (uint32_t)curg;
}

/* mov 0x38(%r14),%rsp; call *%r12 */
static void look_at_mcall(struct go_switch *s, const struct code *code)
{
	size_t load = FIND(code, 0, "\x49\x8b\x66\x38"), call = FIND(code, load, "\x41\xff\xd4");

	if (call >= code->len)
		return;
	s->mcall = (struct go_code){ code->start + load + 4, code->start + call + 3 };
	s->make_frames |= makes_frame(code);
}

/* Who is on the thread's stack already: mov %rdx,N(%rsp), which is where the return address lies; call *%rax, until mov %rsi,%rsp. */
static void look_at_nosave(struct go_switch *s, const struct code *code, size_t from)
{
	size_t save = FIND(code, from, "\x48\x89\x54\x24"), call = FIND(code, save, "\xff\xd0"),
	       back = FIND(code, call, "\x48\x89\xf4");

	if (back >= code->len || code->bytes[save + 4] >= 0x80)
		return;
	note_without_frame(&s->nosave, code, save + 5, back + 3);
	s->nosave_at = code->bytes[save + 4];
}

/*
 * mov 0x38(%rsi),%rsp; call *%rax, until mov %rsi,%rsp: C code runs on the thread's stack, which the goroutine's was left for
 * as in systemstack.
 */
static void look_at_asmcgocall(struct go_switch *s, const struct code *code)
{
	size_t load = FIND(code, 0, "\x48\x8b\x66\x38"), call = FIND(code, load, "\xff\xd0"),
	       back = FIND(code, call, "\x48\x89\xf4");

	if (back >= code->len)
		return;
	note_without_frame(&s->asmcgocall, code, load + 4, back + 3);
	look_at_nosave(s, code, back + 3);
}

/* Its first instruction is mov %fs:N,%reg or, in code for any address, mov $N,%rcx; mov %fs:(%rcx),%reg. */
static uint8_t slot_of_g(const struct code *code)
{
	int32_t n = 0;

	if (FIND(code, 0, "\x64\x48\x8b") == 0 && (code->bytes[3] & 0xc7) == 4 &&
	    code->bytes[4] == 0x25)
		n = number_at(code, 5);
	else if (FIND(code, 0, "\x48\xc7\xc1") == 0 && FIND(code, 7, "\x64\x48\x8b") == 7)
		n = number_at(code, 3);
	return n < 0 && n % 8 == 0 && n / -8 <= UINT8_MAX ? (uint8_t)(n / -8) : 0;
}

/* mov %rbp,N(%reg); where that is %rsp, what follows is no multiple of a word. */
static uint8_t slot_of_bp(const struct code *code)
{
	for (size_t i = 0; i + 4 <= code->len; i++) {
		const uint8_t *p = code->bytes + i;

		if (p[0] == 0x48 && p[1] == 0x89 && (p[2] & 0xf8) == 0x68 && p[3] < 0x80 &&
		    p[3] % 8 == 0)
			return p[3] / 8;
	}
	return 0;
}

/* mov 0x38(%rbx),%rsp: from there to its end, where it has called newstack, which does not return. */
static void look_at_morestack(struct go_switch *s, const struct code *code)
{
	size_t load = FIND(code, 0, "\x48\x8b\x63\x38");

	s->morestack = (struct go_code){ code->start, code->end };
	if (load >= code->len)
		return;
	s->morestack.start += load + 4;
	s->g_slot = slot_of_g(code);
	s->bp_slot = slot_of_bp(code);
}

/* ret, of who has made the thread; mov %rsi,%rsp: runtime/sys_linux_amd64.s. */
static void look_at_clone(struct go_switch *s, const struct code *code)
{
	size_t child = FIND(code, 0, "\xc3\x48\x89\xf4");

	if (child < code->len)
		s->thread = (struct go_code){ code->start + child + 1, code->end };
}

bool go_is_called(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(name, wanted, len) && (!name[len] || !strcmp(name + len, ".abi0"));
}

static const struct {
	const char *name;
	void (*look)(struct go_switch *s, const struct code *code);
} functions[] = {
	{ "runtime.systemstack", look_at_systemstack },
	{ "runtime.mcall", look_at_mcall },
	{ "runtime.asmcgocall", look_at_asmcgocall },
	{ "runtime.morestack", look_at_morestack },
	{ "runtime.clone", look_at_clone },
};

bool go_switch_look(struct go_switch *s, const struct go_table *table,
		    const struct go_function *function, const char *name)
{
	struct code code = { .start = function->start, .end = function->end };
	size_t i = 0;

	while (i < ARRAY_SIZE(functions) && !go_is_called(name, functions[i].name))
		i++;
	if (i == ARRAY_SIZE(functions))
		return false;
	code.len = go_table_code(table, code.start, code.bytes,
				 MIN(code.end - code.start, sizeof(code.bytes)));
	functions[i].look(s, &code);
	return functions[i].look == look_at_morestack;
}
