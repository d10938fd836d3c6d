/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one file, sorted by address; names demangled when first asked for. */
#ifndef HOSTPROF_ELF_SYMBOLS_H
#define HOSTPROF_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cache/lru.h"
#include "base/strbuf.h"
#include "elf/bounds.h"
#include "elf/elf_file.h"
#include "elf/elf_symbol.h"
#include "elf/far_symbols.h"
#include "elf/go/go_frames.h"

#define SYMBOL_FAR (1U << 31)

struct symbol_range {
	uint64_t address;
	uint32_t size;
	uint32_t name; /* offset into names; with SYMBOL_FAR, among those in the file */
};

struct symbols {
	VEC(struct symbol_range) ranges; /* sorted by address, one per address */
	char *names;			 /* owned */
	size_t name_bytes;
	struct bounds bounds; /* of functions that have none */
	uint64_t owner;	      /* of its file: reader_owner() */
	unsigned int late;    /* names that were not there in time */
	int names_fd; /* owned: the file, for names that are read when they are wanted; 0: all are here */
	struct go_place go;   /* of that file; size 0: none of Go's */
	struct far_names far; /* the same of names */
	struct lru known; /* index of range → owned struct demangled_name: what was asked for */
};

/* Collects symbols of a file and of its debug files, then makes the table. */
struct raw_range {
	uint64_t address, size;
	uint32_t name;	   /* its place among the names */
	uint32_t len : 24; /* of the name, with its end */
	uint32_t rank : 8;
};

struct symbols_builder {
	VEC(struct raw_range) raw;
	struct strbuf names;
	uint64_t limit_bytes;	   /* of both; 0: none */
	bool full;		   /* some were left out for it */
	uint64_t go_first, go_end; /* Go's tables name what is there */
	struct far_names far;	   /* of symbols that were added so */
};

void symbols_builder_add(struct symbols_builder *builder, struct elf_file *file);
/*
 * The same of a table that is too large: names stay in the file, of which READER has the bytes. Those that another file was added with
 * so go.
 */
void symbols_builder_add_far(struct symbols_builder *builder, struct elf_file *file,
			     struct cfi_reader *reader);
/* Forget what it has. */
void symbols_builder_release(struct symbols_builder *builder);

/*
 * FILE tells where sections end (for the last symbol without a size). The builder is empty
 * afterwards.
 */
void symbols_build(struct symbols_builder *builder, struct elf_file *file,
		   struct symbols *ret_symbols);
void symbols_release(struct symbols *symbols);

/* Is all of [START, END) in one function? */
bool symbols_cover(const struct symbols *symbols, uint64_t start, uint64_t end);

/* What the table may hold in memory, with what it keeps of demangled names. */
size_t symbols_bytes(const struct symbols *symbols);

/*
 * Is this what symbols_build() makes, in order, and each name with an end? It came from a reader.
 */
bool symbols_are_sound(const struct symbols *symbols);

/* Not thread-safe: keeps what it demangled. */
bool symbols_find(struct symbols *symbols, uint64_t address, struct elf_symbol *ret_symbol);

/* What Go's tables say of ADDRESS; false: it is none of Go's code, or they cannot be read any more. */
bool symbols_find_go(struct symbols *symbols, uint64_t address, struct go_frames *ret_frames);

#endif
