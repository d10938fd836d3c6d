/* SPDX-License-Identifier: Apache-2.0 */
/* A file's inferred rows beside those of its call frame information, instruction by instruction. */
#ifndef HOSTPROF_TESTS_INFER_COMPARE_H
#define HOSTPROF_TESTS_INFER_COMPARE_H

#include <elf.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "elf/cfi/cfi_file_private.h"
#include "elf/infer/infer_gaps.h"

struct infer_sums {
	uint64_t insns;	   /* that call frame information describes */
	uint64_t given;	   /* of these with an inferred row */
	uint64_t cfa;	   /* of these: another CFA */
	uint64_t ra;	   /* another place of the return address */
	uint64_t saved;	   /* of rbp, rbx, r13 or r15 another place */
	uint64_t lost;	   /* one of these is said to be lost */
	uint64_t unlike;   /* CFA by another register: not to be compared */
	uint64_t unclear;  /* the register itself for its place, or the other way round */
	uint64_t mistaken; /* functions whose call frame information is none of theirs */
	uint64_t ns;
};

struct infer_judge {
	bool no_symbols;
	int show; /* so many differences are printed */
	struct cfi_file *theirs, *ours;
	struct cfi_rows their_rows, our_rows;
	uint64_t page; /* 1: none */
	struct infer_sums *sums;
	struct infer_code code;
	struct infer_gaps functions;
};

static inline void infer_sums_add(struct infer_sums *to, const struct infer_sums *from)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

static inline uint64_t infer_sums_wrong(const struct infer_sums *sums)
{
	return sums->cfa + sums->ra + sums->saved;
}

static inline void infer_sums_print(const char *name, const struct infer_sums *sums)
{
	const double given = sums->given ? (double)sums->given : 1;

	printf("%s: %lu instructions, given %.2f%%, wrong %lu (%.4f%%: cfa %lu, ra %lu, saved %lu), lost %.3f%%, "
	       "unlike %.3f%%, unclear %.3f%%, %lu functions left out, %.1f ms\n",
	       name, sums->insns, 100 * given / (double)MAX(sums->insns, 1UL),
	       infer_sums_wrong(sums), 100 * (double)infer_sums_wrong(sums) / given, sums->cfa,
	       sums->ra, sums->saved, 100 * (double)sums->lost / given,
	       100 * (double)sums->unlike / given, 100 * (double)sums->unclear / given,
	       sums->mistaken, (double)sums->ns / 1e6);
}

static inline const struct wire_rule *infer_rule_in(const struct cfi_rows *rows, uint32_t offset)
{
	size_t i = rows->v.len;

	while (i > 1 && rows->v.items[i - 1].offset > offset)
		i--;
	return &rows->v.items[i - 1].rule;
}

static inline uint64_t infer_own_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static inline void infer_go_to(struct infer_judge *judge, uint64_t address)
{
	const uint64_t page = address & ~(uint64_t)(WIRE_PAGE_BYTES - 1);
	uint64_t begin;
	struct err err;

	if (page == judge->page)
		return;
	judge->page = page;
	cfi_file_page(judge->theirs, page, &judge->their_rows, &err);
	begin = infer_own_time();
	cfi_file_page(judge->ours, page, &judge->our_rows, &err);
	judge->sums->ns += infer_own_time() - begin;
}

enum infer_verdict { INFER_SAME, INFER_LOST, INFER_UNCLEAR, INFER_WRONG };

/* A word that was popped is in its register again, and still where it was. */
static inline enum infer_verdict infer_compare_slot(const struct wire_rule *their, uint32_t theirs,
						    uint32_t ours, uint32_t lost)
{
	if (theirs == ours)
		return INFER_SAME;
	if (ours == lost)
		return INFER_LOST;
	if (ours == WIRE_SLOT_SAME && their->kind == WIRE_RULE_CFA && their->cfa_reg == DWARF_RSP &&
	    (int64_t)theirs * 8 > their->cfa_offset)
		return INFER_SAME;
	return ours == WIRE_SLOT_SAME || theirs == WIRE_SLOT_SAME ? INFER_UNCLEAR : INFER_WRONG;
}

static inline enum infer_verdict infer_compare_saved(const struct wire_rule *a,
						     const struct wire_rule *b)
{
	enum infer_verdict worst = INFER_SAME;

	const enum infer_verdict all[] = {
		infer_compare_slot(a, a->rbp_slot, b->rbp_slot, WIRE_RBP_SLOT_LOST),
		infer_compare_slot(a, a->rbx_slot, b->rbx_slot, WIRE_SLOT_LOST),
		infer_compare_slot(a, a->r13_slot, b->r13_slot, WIRE_SLOT_LOST),
		infer_compare_slot(a, a->r15_slot, b->r15_slot, WIRE_SLOT_LOST),
	};

	if (a->home_reg != b->home_reg)
		return INFER_UNCLEAR;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		worst = MAX(worst, all[i]);
	return worst;
}

static inline void infer_show(struct infer_judge *judge, uint64_t address, const char *what,
			      const struct wire_rule *a, const struct wire_rule *b)
{
	if (judge->show <= 0)
		return;
	judge->show--;
	printf("  %lx %s: cfi %d r%d%+d*%d ra %d rbp %d rbx %d r13 %d r15 %d home %d; ours %d r%d%+d*%d ra %d rbp %d rbx %d r13 %d r15 %d home %d\n",
	       address, what, a->kind, a->cfa_reg, a->cfa_offset, a->cfa_add, a->ra_slot,
	       a->rbp_slot, a->rbx_slot, a->r13_slot, a->r15_slot, a->home_reg, b->kind, b->cfa_reg,
	       b->cfa_offset, b->cfa_add, b->ra_slot, b->rbp_slot, b->rbx_slot, b->r13_slot,
	       b->r15_slot, b->home_reg);
}

static inline void infer_compare_rules(struct infer_judge *judge, uint64_t address,
				       const struct wire_rule *a, const struct wire_rule *b)
{
	struct infer_sums *sums = judge->sums;
	enum infer_verdict saved = infer_compare_saved(a, b);

	sums->given++;
	if (a->kind != b->kind || a->cfa_reg != b->cfa_reg) {
		if (a->kind == WIRE_RULE_CFA || a->kind == WIRE_RULE_DEREF)
			sums->unlike++;
		else
			sums->cfa++;
		infer_show(judge, address, "unlike", a, b);
	} else if (a->cfa_offset != b->cfa_offset || a->cfa_add != b->cfa_add) {
		sums->cfa++;
		infer_show(judge, address, "cfa", a, b);
	} else if (a->ra_slot != b->ra_slot) {
		sums->ra++;
		infer_show(judge, address, "ra", a, b);
	} else if (saved != INFER_SAME) {
		sums->lost += saved == INFER_LOST;
		sums->unclear += saved == INFER_UNCLEAR;
		sums->saved += saved == INFER_WRONG;
		infer_show(judge, address,
			   saved == INFER_WRONG	 ? "saved"
			   : saved == INFER_LOST ? "lost"
						 : "unclear",
			   a, b);
	}
}

static inline void infer_compare_at(struct infer_judge *judge, uint64_t address)
{
	const struct wire_rule *a, *b;
	uint32_t offset = address & (WIRE_PAGE_BYTES - 1);

	infer_go_to(judge, address);
	a = infer_rule_in(&judge->their_rows, offset);
	b = infer_rule_in(&judge->our_rows, offset);
	if (a->kind == WIRE_RULE_NONE || a->kind == WIRE_RULE_PLT)
		return;
	judge->sums->insns++;
	if (b->kind != WIRE_RULE_NONE)
		infer_compare_rules(judge, address, a, b);
}

static inline bool infer_take_function(uint64_t start, uint64_t end, void *data)
{
	struct infer_judge *judge = data;

	if (end - start <= 1U << 20)
		vec_push(&judge->functions.v, ((struct infer_gap){ start, end }));
	return true;
}

static inline int infer_compare_starts(const void *a, const void *b)
{
	const struct infer_gap *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Call frame information that says of a push that another register was saved by it (OpenSSL's sha1-mb-x86_64.pl, sha256-mb-x86_64.pl). */
static inline bool infer_is_mistaken(struct infer_judge *judge, uint64_t start)
{
	const struct infer_insn *insn;

	vec_for_each (insn, &judge->code.v) {
		const struct wire_rule *rule;
		uint64_t next = start + insn->at + insn->len;

		if (insn->kind != INFER_PUSH || insn->reg != DWARF_RBP ||
		    insn + 1 >= judge->code.v.items + judge->code.v.len)
			continue;
		infer_go_to(judge, next);
		rule = infer_rule_in(&judge->their_rows, next & (WIRE_PAGE_BYTES - 1));
		if (rule->rbp_slot == WIRE_SLOT_SAME && rule->rbx_slot == 3)
			return true;
	}
	return false;
}

static inline void infer_compare_function(struct infer_judge *judge, uint64_t start, uint64_t end)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	const struct infer_insn *insn;

	bytes = xmalloc(end - start);
	infer_code_read(bytes, cfi_read_address(judge->theirs, start, bytes, end - start),
			&judge->code);
	if (infer_is_mistaken(judge, start)) {
		judge->sums->mistaken++;
		return;
	}
	vec_for_each (insn, &judge->code.v)
		infer_compare_at(judge, start + insn->at);
}

/* In their order, as rows are made for many at once. */
static inline void infer_compare_all(struct infer_judge *judge)
{
	const struct infer_gap *it;

	cfi_file_for_each_function(judge->theirs, infer_take_function, judge);
	qsort(judge->functions.v.items, judge->functions.v.len, sizeof(judge->functions.v.items[0]),
	      infer_compare_starts);
	vec_for_each (it, &judge->functions.v)
		infer_compare_function(judge, it->start, it->end);
	vec_release(&judge->functions.v);
}

/* Sections and the program header by which it would be found. */
static inline void infer_hide(struct strbuf *bytes, bool symbols)
{
	Elf64_Ehdr *header = (void *)bytes->buf;
	Elf64_Phdr *segment = (void *)(bytes->buf + header->e_phoff);
	Elf64_Shdr *section = (void *)(bytes->buf + header->e_shoff);
	const char *names = bytes->buf + section[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_GNU_EH_FRAME)
			segment[i].p_type = PT_NULL;
	for (int i = 0; i < header->e_shnum; i++) {
		const char *name = names + section[i].sh_name;

		if (strcmp(name, ".eh_frame") == 0 || strcmp(name, ".debug_frame") == 0)
			section[i].sh_type = SHT_NOBITS;
		else if (symbols &&
			 (section[i].sh_type == SHT_SYMTAB || section[i].sh_type == SHT_DYNSYM))
			section[i].sh_type = SHT_NULL;
	}
}

static inline int infer_judge_file(struct infer_judge *judge, const char *path,
				   struct infer_sums *sums)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT, hidden = STRBUF_INIT;
	struct err err;
	int r = file_read(path, 1U << 30, &whole);

	if (r < 0)
		return r;
	strbuf_add(&hidden, whole.buf, whole.len);
	infer_hide(&hidden, judge->no_symbols);
	judge->sums = sums;
	judge->page = 1;
	r = cfi_file_open_memory(whole.buf, whole.len, &judge->theirs, &err);
	if (r == 0)
		r = cfi_file_open_memory(hidden.buf, hidden.len, &judge->ours, &err);
	if (r == 0)
		infer_compare_all(judge);
	cfi_file_close(judge->theirs);
	cfi_file_close(judge->ours);
	judge->theirs = judge->ours = NULL;
	vec_release(&judge->their_rows.v);
	vec_release(&judge->our_rows.v);
	infer_code_release(&judge->code);
	return r;
}

#endif
