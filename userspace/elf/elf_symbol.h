/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_ELF_ELF_SYMBOL_H
#define HOSTPROF_ELF_ELF_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

/* A function as a look-up gives it. */
struct elf_symbol {
	uint64_t address; /* the file's own virtual address */
	uint64_t size;
	const char *name; /* borrowed from the image; demangled */
	bool cpp;	  /* the mangled name was C++ */
};

#endif
