/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF reading on libelf: build id, segments, symbol tables with names kept. Hostile input: every
 * offset and count is checked, nothing is mapped (a file that is truncated while we read must not
 * raise SIGBUS).
 */
#ifndef HOSTPROF_ELF_ELF_FILE_H
#define HOSTPROF_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "elf/debug/debug_link.h"

struct elf_file;

/*
 * FD is borrowed and must stay open as long as the elf_file. -EBADMSG: not an ELF file; -E2BIG: more
 * sections or segments than any honest file has (elf/elf_limits.h).
 */
int elf_file_open(int fd, struct elf_file **ret_file, struct err *err);
int elf_file_open_memory(const void *data, size_t len, struct elf_file **ret_file, struct err *err);
void elf_file_close(struct elf_file *file);
DEFINE_CLEANUP(struct elf_file *, elf_file_close);

/*
 * From now on so many bytes of sections are read whole (symbols, their names, what PLT entries are
 * found by), and kept until the file is closed; ELF_MAX_READ_BYTES without it. Functions that need one
 * that is larger find nothing.
 */
void elf_file_limit_reads(struct elf_file *file, uint64_t bytes);

/* Lower-case hex of NT_GNU_BUILD_ID, "" when there is none. */
int elf_file_build_id(struct elf_file *file, char *ret_hex, size_t size);

struct elf_segment { /* PT_LOAD */
	uint64_t offset, address, file_size, memory_size;
	uint32_t flags; /* PF_… */
};

#define ELF_SEGMENT_ANY 0 /* FLAGS of all */

/*
 * The first segment with all of FLAGS that has the byte at ADDRESS in the file, NULL when none does (what
 * is only in memory, .bss, is not in the file).
 */
static inline const struct elf_segment *elf_segment_find(const struct elf_segment *segments,
							 size_t count, uint32_t flags,
							 uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & flags) == flags && address >= segments[i].address &&
		    address - segments[i].address < segments[i].file_size)
			return &segments[i];
	return NULL;
}

static inline uint64_t elf_segment_offset(const struct elf_segment *segment, uint64_t address)
{
	return segment->offset + (address - segment->address);
}

/* How many bytes of it are in the file from ADDRESS on. */
static inline uint64_t elf_segment_left(const struct elf_segment *segment, uint64_t address)
{
	return segment->file_size - (address - segment->address);
}

int elf_file_segments(struct elf_file *file, const struct elf_segment **ret_segments);

/* .gnu_debuglink: file name and CRC; -ENODATA when absent. */
int elf_file_debuglink(struct elf_file *file, char *ret_name, size_t size, uint32_t *ret_crc);

/* Both, as far as they are there. */
void elf_file_find_debug(struct elf_file *file, struct debug_link *ret_link);

/* Decompressed .gnu_debugdata (xz); -ENODATA when absent; -E2BIG: it takes more than LIMIT_BYTES. */
int elf_file_debugdata(struct elf_file *file, uint64_t limit_bytes, struct strbuf *out,
		       struct err *err);

/* Call FN for every function symbol (STT_FUNC, STT_GNU_IFUNC) of .symtab and .dynsym. */
void elf_file_for_each_function(struct elf_file *file,
				void (*fn)(const char *name, uint64_t address, uint64_t size,
					   void *data),
				void *data);

/* The same with what is needed to choose between names, PLT entries ("memcpy@plt") included. */
#define ELF_PLT_SUFFIX "@plt"

struct elf_raw_symbol {
	const char *name; /* borrowed during the call */
	uint64_t address;
	uint64_t size;	    /* 0: not stated */
	unsigned char rank; /* the more fitting of two names of one address has the higher one */
};

/* Names of a lower rank are the file's own. */
#define ELF_RANK_SHARED 8

/* Call FN for every function of .symtab and .dynsym; names are borrowed until the file is closed. */
void elf_file_for_each_table_symbol(struct elf_file *file,
				    void (*fn)(const struct elf_raw_symbol *symbol, void *data),
				    void *data);

void elf_file_for_each_raw_symbol(struct elf_file *file,
				  void (*fn)(const struct elf_raw_symbol *symbol, void *data),
				  void *data);

/*
 * Call FN for every function that .dynsym calls NAME, or when it has none, that .symtab does, in any order,
 * the same address maybe again. Of several versions of a name only the default one counts. IS_IFUNC: it is
 * the resolver of the function, not the function itself.
 */
void elf_file_for_each_named(struct elf_file *file, const char *name,
			     void (*fn)(uint64_t address, bool is_ifunc, void *data), void *data);

/* What has a name and a place: a function, a variable, a label. */
struct elf_object {
	uint64_t address, size;
	unsigned char type; /* STT_… */
	/* Other files may mean it by its name; not 0. It may come from a reader, so that it has any value. */
	unsigned char is_global;
};

/* Call FN for every one that .dynsym or .symtab calls NAME, in any order, the same maybe twice. Old versions do not count. */
void elf_file_for_each_object(struct elf_file *file, const char *name,
			      void (*fn)(const struct elf_object *object, void *data), void *data);

/* DT_SONAME; -ENODATA when absent. */
int elf_file_soname(struct elf_file *file, char *ret_name, size_t size);

/* What its symbol tables and their names take in the file. */
uint64_t elf_file_symbol_bytes(struct elf_file *file);

/* Does it have a .symtab with functions, so that no debug file is needed? */
bool elf_file_has_symtab(struct elf_file *file);

/* End of the section (else load segment) that holds ADDRESS; 0 when none does. */
uint64_t elf_file_section_end(struct elf_file *file, uint64_t address);

/* The address of one symbol of any kind in .dynsym or .symtab; -ENODATA when absent. */
int elf_file_find_symbol(struct elf_file *file, const char *name, uint64_t *ret_address);

#endif
