/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read of one file of code at most. Files are anybody's, and a sparse one of a few kilobytes
 * can state any size, so sizes are looked at before anything is allocated for them. docs/limits.md says
 * what happens where one is met.
 */
#ifndef HOSTPROF_ELF_ELF_LIMITS_H
#define HOSTPROF_ELF_ELF_LIMITS_H

/* libelf keeps 300 bytes of each; linked files have fewer than a hundred. */
#define ELF_MAX_SECTIONS 16384
#define ELF_MAX_SEGMENTS 4096
/* Of all notes together; a build id takes 36. */
#define ELF_MAX_NOTE_BYTES (1U << 20)
/* The names of sections. */
#define ELF_MAX_SECTION_NAMES_BYTES (1U << 20)
/* A file name and a checksum. */
#define ELF_MAX_DEBUGLINK_BYTES 4096U

/* All sections that are read whole, as long as nobody says what there is room for. */
#define ELF_MAX_READ_BYTES (64ULL << 20)
/* Symbols of the largest binaries known (browsers with debug data) stay below this. */
#define ELF_MAX_SECTION_BYTES (1ULL << 30)
#define ELF_MAX_SYMBOLS	      (16U << 20)
#define ELF_MAX_SYMBOL_NAME   4096

/* Entries of the PLT; the largest libraries have some ten thousand. */
#define ELF_MAX_PLT_ENTRIES 262144U
/* What the PLT's relocations, code and names take besides the tables of symbols. */
#define ELF_PLT_BYTES (16ULL << 20)

/* .gnu_debugdata; the largest one known is a few MB. */
#define ELF_MAX_DEBUGDATA_BYTES (256ULL << 20)
#define ELF_MAX_XZ_BYTES	(128ULL << 20)
/* What `xz` needs to decompress by default (-6); it is had in any case. */
#define ELF_XZ_BYTES (10ULL << 20)

#endif
