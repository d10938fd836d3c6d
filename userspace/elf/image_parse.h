/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read of one file of code: build id, segments, functions. A reader does it (elf/reader/), for the bytes
 * are anybody's; only those of our own vDSO are read in place.
 */
#ifndef HOSTPROF_ELF_IMAGE_PARSE_H
#define HOSTPROF_ELF_IMAGE_PARSE_H

#include "elf/symbols.h"

/* Symbols that would have taken too much memory. */
enum image_left_out {
	IMAGE_LEFT_NOTHING,
	IMAGE_LEFT_SYMBOLS,
	IMAGE_LEFT_NAMES,
	IMAGE_LEFT_DEBUGDATA,
};

struct image_parse {
	int fd;		       /* owned; -1: memory */
	struct elf_file *file; /* owned */
	struct symbols_builder builder;
	bool far_in_debug;   /* names that stay in a file are in its debug file */
	bool has_symtab;     /* all functions that its maker named have symbols */
	uint64_t left_bytes; /* for symbols while they are read */
	enum image_left_out left_out;
	uint64_t left_out_bytes; /* what they take; 0: not known */
	struct go_place go;	 /* size 0: none of Go's */
};

#define IMAGE_PARSE_INIT \
	{                \
		.fd = -1 \
	}

/*
 * Begin with the file FD (taken, also when this fails). Symbols of it and its debug files take at most LIMIT_BYTES
 * while they are read; others are left out.
 */
int image_parse_open(struct image_parse *parse, int fd, uint64_t limit_bytes, struct err *err);
/* DATA is borrowed and must stay. */
int image_parse_open_memory(struct image_parse *parse, const void *data, size_t len,
			    struct err *err);

/* Its own functions. */
void image_parse_own(struct image_parse *parse);
/* No functions but the exported ones are in it: a debug file may have them. */
bool image_parse_wants_debug(struct image_parse *parse);
/* Those of its debug file DEBUG_FD (borrowed), too. */
void image_parse_debug(struct image_parse *parse, int debug_fd);

/* All that were found. The file stays open. */
void image_parse_end(struct image_parse *parse, struct symbols *ret_symbols);
void image_parse_release(struct image_parse *parse);

#endif
