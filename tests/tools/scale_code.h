/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generated code of the scale test, as its writer (scale_elf.c) and its judge (scale_judge.c)
 * both know it. A file holds `count` functions in slots of SCALE_SLOT bytes; each one calls one
 * other, scale_next(), so that the frames of a chain follow from its first. The file's name is
 * "gNUMBER-COUNT.elf".
 */
#ifndef HOSTPROF_TESTS_SCALE_CODE_H
#define HOSTPROF_TESTS_SCALE_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SCALE_SLOT	48   /* no divisor of a page: some functions lie across two */
#define SCALE_HEAD	1024 /* bytes */
#define SCALE_ENTRY	8    /* of the binary search table */
#define SCALE_FDE	64
#define SCALE_MAX_FDES	1500000
#define SCALE_MAX_CHAIN 64 /* frames */
#define SCALE_CODE_PAGE 4096ULL

struct scale_file {
	uint32_t number; /* other files have other frames and another way through them */
	uint32_t count;
};

/* How a function keeps its frame. */
enum scale_kind {
	SCALE_RBX,     /* pushes %rbx */
	SCALE_FP,      /* has a frame pointer */
	SCALE_BARE,    /* only moves %rsp, by a 32-bit number */
	SCALE_USES_FP, /* has a number in %rbp */
	SCALE_KINDS
};

/* The finalizer of MurmurHash3: every bit depends on every other. */
static inline uint32_t scale_mix(uint32_t a, uint32_t b)
{
	uint64_t x = (uint64_t)a << 32 | b;

	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return (uint32_t)(x ^ x >> 33);
}

static inline enum scale_kind scale_kind_of(struct scale_file f, uint32_t function)
{
	return (enum scale_kind)(scale_mix(f.number, function) % SCALE_KINDS);
}

/* Bytes of locals. */
static inline uint32_t scale_locals(struct scale_file f, uint32_t function)
{
	return 8 + 8 * (scale_mix(function, f.number) % 15);
}

/* About 0.38 of the file on, so that a chain is all over the text. */
static inline uint32_t scale_next(struct scale_file f, uint32_t function)
{
	uint64_t step = (uint64_t)f.count * 382 / 1000 + 2 * (f.number % 97) + 1;

	return (uint32_t)((function + step) % f.count);
}

/* Address and file offset of the code differ by whole pages, and by others in each file. */
static inline uint64_t scale_bias(struct scale_file f)
{
	return SCALE_CODE_PAGE * (f.number % 7);
}

/* The tables come first; each function's description takes less than SCALE_FDE bytes. */
static inline uint64_t scale_text_offset(struct scale_file f)
{
	uint64_t tables = SCALE_HEAD + (uint64_t)f.count * (SCALE_ENTRY + SCALE_FDE);

	return (tables + SCALE_CODE_PAGE - 1) / SCALE_CODE_PAGE * SCALE_CODE_PAGE;
}

static inline uint64_t scale_text_address(struct scale_file f)
{
	return scale_text_offset(f) + scale_bias(f);
}

/* Of a file name without directories. */
static inline bool scale_file_of(const char *name, struct scale_file *ret_file)
{
	int end = 0;

	return sscanf(name, "g%u-%u.elf%n", &ret_file->number, &ret_file->count, &end) == 2 &&
	       end && !name[end] && ret_file->count && ret_file->count <= SCALE_MAX_FDES;
}

#endif
