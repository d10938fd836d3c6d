// SPDX-License-Identifier: Apache-2.0
/* Read from gcc 12's crtbegin.o, crtbeginS.o and crtbeginT.o. */
#include "elf/cfi/cfi_crt.h"

#include <string.h>

#include "elf/cfi/cfi_file_private.h"
#include "elf/elf_file_private.h"

#define MAX_BRANCHES 4
/* No instruction begins at this byte. */
#define NO_INSTRUCTION 0xff

/* Constructors with a priority are before ours: of -fsanitize=address one for each object file. */
#define MAX_ARRAY_ENTRIES 256
#define MAX_DISTANCE	  256
/* The linker sorts the relative relocations to the front. */
#define MAX_RELOCATIONS (64U << 10)

enum effect { PLAIN, PUSH, POP, FRAME, CALL, BRANCH, JUMP, END };

/* Some bytes, and operands of any value behind them. */
static const struct instruction {
	uint8_t fixed_len, operand_len;
	uint8_t fixed[7];
	uint8_t effect;
} instructions[] = {
	{ 4, 0, { 0xf3, 0x0f, 0x1e, 0xfa }, PLAIN }, /* endbr64 */
	{ 3, 4, { 0x48, 0x8d, 0x3d }, PLAIN },	     /* lea REL(%rip),%rdi */
	{ 3, 4, { 0x48, 0x8d, 0x05 }, PLAIN },	     /* lea REL(%rip),%rax */
	{ 3, 4, { 0x48, 0x8d, 0x35 }, PLAIN },	     /* lea REL(%rip),%rsi */
	{ 3, 4, { 0x48, 0x8b, 0x05 }, PLAIN },	     /* mov REL(%rip),%rax */
	{ 3, 4, { 0x48, 0x8b, 0x3d }, PLAIN },	     /* mov REL(%rip),%rdi */
	{ 3, 4, { 0x48, 0xc7, 0xc0 }, PLAIN },	     /* mov $N,%rax */
	{ 1, 4, { 0xb8 }, PLAIN },		     /* mov $N,%eax */
	{ 1, 4, { 0xbe }, PLAIN },		     /* mov $N,%esi */
	{ 1, 4, { 0xbf }, PLAIN },		     /* mov $N,%edi */
	{ 3, 0, { 0x48, 0x39, 0xf8 }, PLAIN },	     /* cmp %rdi,%rax */
	{ 2, 4, { 0x48, 0x3d }, PLAIN },	     /* cmp $N,%rax */
	{ 2, 5, { 0x80, 0x3d }, PLAIN },	     /* cmpb $N,REL(%rip) */
	{ 3, 5, { 0x48, 0x83, 0x3d }, PLAIN },	     /* cmpq $N,REL(%rip) */
	{ 2, 5, { 0xc6, 0x05 }, PLAIN },	     /* movb $N,REL(%rip) */
	{ 3, 0, { 0x48, 0x85, 0xc0 }, PLAIN },	     /* test %rax,%rax */
	{ 3, 0, { 0x48, 0x29, 0xfe }, PLAIN },	     /* sub %rdi,%rsi */
	{ 3, 4, { 0x48, 0x81, 0xee }, PLAIN },	     /* sub $N,%rsi */
	{ 3, 0, { 0x48, 0x89, 0xf0 }, PLAIN },	     /* mov %rsi,%rax */
	{ 4, 0, { 0x48, 0xc1, 0xee, 0x3f }, PLAIN }, /* shr $63,%rsi */
	{ 4, 0, { 0x48, 0xc1, 0xf8, 0x03 }, PLAIN }, /* sar $3,%rax */
	{ 3, 0, { 0x48, 0x01, 0xc6 }, PLAIN },	     /* add %rax,%rsi */
	{ 3, 0, { 0x48, 0xd1, 0xfe }, PLAIN },	     /* sar %rsi */
	{ 3, 0, { 0x48, 0x89, 0xe5 }, FRAME },	     /* mov %rsp,%rbp */
	{ 1, 0, { 0x55 }, PUSH },		     /* push %rbp */
	{ 1, 0, { 0x5d }, POP },		     /* pop %rbp */
	{ 1, 4, { 0xe8 }, CALL },
	{ 1, 1, { 0x74 }, BRANCH }, /* je */
	{ 1, 1, { 0x75 }, BRANCH }, /* jne */
	{ 1, 4, { 0xe9 }, JUMP },
	{ 1, 1, { 0xeb }, JUMP },
	{ 2, 0, { 0xff, 0xe0 }, END }, /* jmp *%rax */
	{ 1, 0, { 0xc3 }, END },       /* ret */
	/* gas' fillers, in front of a branch's target */
	{ 1, 0, { 0x90 }, PLAIN },
	{ 2, 0, { 0x66, 0x90 }, PLAIN },
	{ 3, 0, { 0x0f, 0x1f, 0x00 }, PLAIN },
	{ 4, 0, { 0x0f, 0x1f, 0x40, 0x00 }, PLAIN },
	{ 5, 0, { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, PLAIN },
	{ 6, 0, { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 }, PLAIN },
	{ 3, 4, { 0x0f, 0x1f, 0x80 }, PLAIN },
	{ 4, 4, { 0x0f, 0x1f, 0x84, 0x00 }, PLAIN },
	{ 5, 4, { 0x66, 0x0f, 0x1f, 0x84, 0x00 }, PLAIN },
};

struct decoder {
	const uint8_t *code;
	size_t len, at;
	bool deep; /* %rbp is on the stack */
	size_t pushed, popped;
	uint8_t branches[MAX_BRANCHES], from_deep[MAX_BRANCHES];
	size_t branch_count, last_target;
	uint8_t depths[CFI_CRT_MAX_BYTES]; /* `deep` where an instruction begins */
};

static const struct instruction *find_instruction(const struct decoder *d)
{
	size_t left = d->len - d->at;

	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		const struct instruction *it = &instructions[i];

		if ((size_t)it->fixed_len + it->operand_len <= left &&
		    memcmp(d->code + d->at, it->fixed, it->fixed_len) == 0)
			return it;
	}
	return NULL;
}

/* The distance of a call or jump that ends at AT. */
static int32_t distance_before(const uint8_t *code, size_t at, size_t len)
{
	int32_t distance;

	if (len == 1)
		return (int8_t)code[at - 1];
	memcpy(&distance, code + at - sizeof(distance), sizeof(distance));
	return distance;
}

/* One push, and one pop after it. */
static bool move_stack(struct decoder *d, bool push)
{
	size_t *at = push ? &d->pushed : &d->popped;

	if (d->deep == push || *at)
		return false;
	d->deep = push;
	*at = d->at;
	return true;
}

static bool add_branch(struct decoder *d, int32_t distance)
{
	if (distance < 0 || d->at + (size_t)distance >= d->len || d->branch_count == MAX_BRANCHES)
		return false;
	d->branches[d->branch_count] = (uint8_t)(d->at + (size_t)distance);
	d->from_deep[d->branch_count++] = d->deep;
	d->last_target = MAX(d->last_target, d->at + (size_t)distance);
	return true;
}

/* Behind the instruction; what it does to the stack, and where it goes. */
static bool follow(struct decoder *d, const struct instruction *it, uint64_t address,
		   struct cfi_crt *crt)
{
	uint64_t target = 0;
	int32_t distance = 0;

	if (it->effect == CALL || it->effect == BRANCH || it->effect == JUMP) {
		distance = distance_before(d->code, d->at, it->operand_len);
		target = address + d->at + (uint64_t)(int64_t)distance;
	}
	switch (it->effect) {
	case PUSH: return move_stack(d, true);
	case POP: return move_stack(d, false);
	case FRAME: return d->deep;
	case BRANCH: return add_branch(d, distance);
	case CALL:
		if (!d->deep || crt->call_count == CFI_CRT_MAX_CALLS)
			return false;
		crt->calls[crt->call_count++] = target;
		return true;
	case JUMP:
		if (target >= address && target - address < CFI_CRT_MAX_BYTES)
			return false; /* not to another function */
		crt->jump = target;
		return !d->deep;
	case END: return !d->deep;
	default: return true;
	}
}

/* All branches go to instructions, and the stack is there as it is where they come from. */
static bool branches_agree(const struct decoder *d)
{
	for (size_t i = 0; i < d->branch_count; i++)
		if (d->depths[d->branches[i]] != d->from_deep[i])
			return false;
	return true;
}

bool cfi_crt_match(const uint8_t *code, size_t len, uint64_t address, struct cfi_crt *ret_crt)
{
	struct decoder d = { .code = code, .len = MIN(len, (size_t)CFI_CRT_MAX_BYTES) };
	struct cfi_crt crt = { .start = address };
	const struct instruction *it;

	memset(d.depths, NO_INSTRUCTION, sizeof(d.depths));
	do {
		it = find_instruction(&d);
		if (!it)
			return false;
		d.depths[d.at] = d.deep;
		d.at += (size_t)it->fixed_len + it->operand_len;
		if (!follow(&d, it, address, &crt))
			return false;
	} while ((it->effect != END && it->effect != JUMP) || d.at <= d.last_target);
	if (!branches_agree(&d))
		return false;
	crt.end = address + d.at;
	crt.pushed = d.pushed ? address + d.pushed : crt.end;
	crt.popped = d.popped ? address + d.popped : crt.end;
	*ret_crt = crt;
	return true;
}

/* --- in a file ------------------------------------------------------------------------------- */

/*
 * The way to gcc's functions: .fini_array has __do_global_dtors_aux, which calls
 * deregister_tm_clones; .init_array has frame_dummy, which goes to register_tm_clones. In
 * libgcc's crtstuff.c the two are in front of the others.
 */

struct addend {
	uint64_t at, found; /* found 0: there is none */
};

static bool is_addend(const void *record, void *data)
{
	const Elf64_Rela *relocation = record;
	struct addend *addend = data;

	if (relocation->r_offset != addend->at ||
	    ELF64_R_TYPE(relocation->r_info) != R_X86_64_RELATIVE)
		return false;
	addend->found = (uint64_t)relocation->r_addend;
	return true;
}

/* lld leaves the words of a position-independent file 0: the addend of AT's relocation. */
static uint64_t find_addend(struct cfi_file *file, struct elf_file *elf, uint64_t at)
{
	struct addend addend = { .at = at };
	GElf_Shdr header;
	uint64_t count;

	if (!elf_file_find_section(elf, ".rela.dyn", &header))
		return 0;
	count = MIN(header.sh_size / sizeof(Elf64_Rela), (uint64_t)MAX_RELOCATIONS);
	cfi_reader_each(&file->reader, header.sh_offset, count, sizeof(Elf64_Rela), is_addend,
			&addend);
	return addend.found;
}

static bool match_at(struct cfi_file *file, uint64_t address, struct cfi_crt *ret_crt)
{
	uint8_t code[CFI_CRT_MAX_BYTES];
	size_t len = cfi_read_address(file, address, code, sizeof(code));

	return cfi_crt_match(code, len, address, ret_crt) &&
	       !cfi_layer_covers(&file->eh_frame, address);
}

/* The function that FROM calls or goes to, which is near, and does nothing of the kind itself. */
static bool match_callee(struct cfi_file *file, const struct cfi_crt *from, uint64_t address,
			 struct cfi_crt *ret_crt)
{
	return address < from->start && from->start - address <= MAX_DISTANCE &&
	       match_at(file, address, ret_crt) && !ret_crt->call_count && !ret_crt->jump &&
	       ret_crt->end <= from->start;
}

static void add_part(struct cfi_linkage *linkage, const struct cfi_crt *crt)
{
	if (linkage->count < CFI_LINKAGE_PARTS)
		linkage->parts[linkage->count++] =
			(struct cfi_linkage_part){ crt->start, crt->pushed, crt->popped, crt->end,
						   true };
}

/* Is the function at ADDRESS the one that we look for, and so the other that it leads to? */
static bool add_pair(struct cfi_file *file, uint64_t address)
{
	struct cfi_crt crt, callee;
	bool found;

	if (address == 0 || !match_at(file, address, &crt))
		return false;
	found = crt.jump && match_callee(file, &crt, crt.jump, &callee);
	for (size_t i = 0; !found && i < crt.call_count; i++)
		found = match_callee(file, &crt, crt.calls[i], &callee);
	if (!found)
		return false;
	add_part(&file->linkage, &callee);
	add_part(&file->linkage, &crt);
	return true;
}

static void find_pair(struct cfi_file *file, struct elf_file *elf, const char *name)
{
	GElf_Shdr header;
	uint64_t at, word;

	if (!elf_file_find_section(elf, name, &header))
		return;
	for (size_t i = 0; i < MIN(header.sh_size / sizeof(word), MAX_ARRAY_ENTRIES); i++) {
		at = header.sh_addr + i * sizeof(word);
		if (cfi_read_address(file, at, &word, sizeof(word)) != sizeof(word))
			break;
		if (add_pair(file, word ? word : find_addend(file, elf, at)))
			break;
	}
}

void cfi_crt_find(struct cfi_file *file, struct elf_file *elf)
{
	find_pair(file, elf, ".init_array");
	find_pair(file, elf, ".fini_array");
}
