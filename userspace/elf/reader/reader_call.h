/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of a reader, and how its answers lie in the data of a call. Both sides are one program, so values are as the
 * compiler lays them. Who asks takes nothing in an answer for true: its reader may have been taken over by what it read.
 *
 * A negative result is an errno, and the data begins with a sentence (READER_TEXT_BYTES, with its end).
 */
#ifndef HOSTPROF_ELF_READER_READER_CALL_H
#define HOSTPROF_ELF_READER_READER_CALL_H

#include <stdint.h>

#include "elf/cfi/cfi_rows.h"
#include "elf/debug/debug_link.h"
#include "elf/demangle.h"
#include "elf/elf_file.h"
#include "elf/elf_limits.h"
#include "elf/far_symbols.h"
#include "elf/go/go_frames.h"
#include "elf/probe/usdt_notes.h"

enum reader_op {
	/* A file of code, in this order; with each comes what the one before has left. */
	READER_IMAGE_OPEN,  /* a file, `len`: bytes of memory for symbols -> struct reader_image */
	READER_IMAGE_DEBUG, /* its debug file */
	READER_IMAGE_END,   /* -> struct reader_symbols */
	READER_IMAGE_TAKE,  /* `len` bytes at `offset` of part `count` (enum reader_part) */
	READER_IMAGE_DROP,

	READER_FAR_NAME, /* a file, up to `len` bytes at `offset` -> struct reader_name, also when it is not mangled */
	READER_GO_FRAMES, /* a file, struct go_place in `data`, an address `offset` -> struct go_frames */

	READER_BUILD_ID, /* a file -> hex with its end */
	READER_DEMANGLE, /* a name in `data`, with its end -> struct reader_name */

	READER_FILE, /* a file -> struct reader_file_said */
	READER_FIND, /* a file, and names in `data`, each with its end; `count`: enum reader_find -> an address for each */
	READER_FUNCTIONS, /* a file, and names likewise -> struct reader_function for each */
	READER_SONAME,	  /* a file -> text with its end */
	READER_PLACES, /* a file, a function's name in `data` with its end; `len` bytes of sections at most -> struct reader_places */
	READER_OBJECTS, /* a file, a name in `data` with its end; `len` likewise -> struct reader_objects */
	READER_USDT, /* a file, provider and name of a probe in `data`, each with its end; `len` likewise -> struct reader_usdt */

	READER_PERF_MAP, /* a file, `len` bytes at `offset` -> struct reader_perf_map, its lines, its names */
	READER_JIT_DUMP, /* the same */

	/* Call frame information; `count` is the handle. */
	READER_CFI_OPEN,   /* a file -> struct reader_cfi_opened */
	READER_CFI_DIGEST, /* -> struct cfi_digest */
	READER_CFI_PAGE,   /* that of address `offset` -> struct reader_cfi_page */
	READER_CFI_CLOSE,
};

#define READER_TEXT_BYTES 384
/* Longer results are fetched in pieces, so that no more of the call's memory is ever touched. */
#define READER_PIECE_BYTES (128U << 10)

struct reader_image {
	struct debug_link link;
	uint32_t wants_debug;
};

enum reader_part { READER_SEGMENTS, READER_RANGES, READER_NAMES, READER_BOUNDS };

struct reader_symbols {
	uint64_t segments, ranges, name_bytes, bounds;
	uint64_t bounds_base;
	uint64_t left_out_bytes;
	uint32_t left_out; /* enum image_left_out */
	struct go_place go;
	struct far_names far;
	uint32_t far_in_debug;
};

struct reader_name {
	uint32_t cpp;
	char text[]; /* "": it is not mangled */
};

/* The longest one, with its end. */
#define READER_NAME_BYTES (sizeof(struct reader_name) + DEMANGLE_MAX_NAME + 1)

#define READER_MAX_SEGMENTS ELF_MAX_SEGMENTS

struct reader_file_said {
	struct debug_link link;
	uint32_t segments;
	struct elf_segment segment[READER_MAX_SEGMENTS];
};

enum reader_find {
	READER_FIND_SYMBOL,   /* of any kind, of this name */
	READER_FIND_FUNCTION, /* the last one whose name begins so */
};

#define READER_MAX_NAMES 96
#define READER_NOT_THERE UINT64_MAX

/* Of several of one name that which other files may call (ELF_RANK_SHARED). */
struct reader_function {
	uint64_t address; /* READER_NOT_THERE: there is none */
	uint64_t size;
	uint64_t rank;
	uint64_t probe; /* bytes behind its entry where it is best probed (infer_entry.h) */
};

/* Functions of one name. */
#define READER_MAX_PLACES 1024

struct reader_places {
	uint32_t count;
	uint32_t is_ifunc; /* one of them */
	uint64_t address[READER_MAX_PLACES];
};

/* What has a name, and the places of a USDT probe: the first ones. */
#define READER_MAX_OBJECTS 64
#define READER_MAX_USDT	   256

struct reader_objects {
	uint32_t count;
	struct elf_object object[READER_MAX_OBJECTS];
};

struct reader_usdt {
	uint32_t count; /* more than READER_MAX_USDT: so many were left out */
	struct usdt_note note[READER_MAX_USDT];
};

/* Of a perf map, or a jitdump: so much of it is looked at in one call, and a line that is longer is none. */
#define READER_MAP_BYTES READER_PIECE_BYTES
#define READER_MAP_LINES 1536
#define READER_MAP_TEXT	 (64U << 10)
/* Longer names are cut. */
#define READER_MAP_NAME 512

struct reader_map_line {
	uint64_t start, end;
	uint64_t name; /* in the names, each with its end */
	uint64_t
		from; /* of code that has moved, whose name is empty: where it was; 0: of all other */
};

struct reader_perf_map {
	uint64_t taken; /* bytes of the file that need not be read again */
	uint32_t lines, text_bytes;
	struct reader_map_line line[READER_MAP_LINES];
	char text[READER_MAP_TEXT]; /* where the last line ends */
};

struct reader_cfi_opened {
	uint32_t handle;
	uint32_t segments; /* executable ones */
	uint64_t bytes;	   /* of memory */
	char build_id[BUILD_ID_BYTES];
	struct elf_segment segment[READER_MAX_SEGMENTS];
};

struct reader_cfi_page {
	uint64_t bytes; /* of memory; it may have grown */
	uint32_t rows;
	struct cfi_row row[WIRE_PAGE_BYTES];
};

#endif
