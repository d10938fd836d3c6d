/* SPDX-License-Identifier: Apache-2.0 */
#include "session/malloc/malloc_functions.h"

#include <string.h>

#include "base/file.h"
#include "base/macros.h"

/*
 * C and POSIX (glibc, musl, tcmalloc, mimalloc), jemalloc(3), C++ as an allocator has it (Itanium ABI names; libstdc++'s and libc++'s
 * call malloc()). jemalloc's have a prefix where it was built into a program: je_ (redis), _rjem_ (Rust). Those of no form are not
 * probed: tcmalloc's and mimalloc's by which those are told, and glibc's and musl's own, to which the others jump.
 */
#define WITH_PREFIXES(name, form)             \
	{ name, form }, { "je_" name, form }, \
	{                                     \
		"_rjem_" name, form           \
	}

/* clang-format off */
const struct malloc_function malloc_functions[MALLOC_FUNCTIONS] = {
	WITH_PREFIXES("malloc", WIRE_MALLOC_SIZE),
	WITH_PREFIXES("calloc", WIRE_MALLOC_ARRAY),
	WITH_PREFIXES("realloc", WIRE_MALLOC_AGAIN),
	WITH_PREFIXES("posix_memalign", WIRE_MALLOC_INTO),
	WITH_PREFIXES("aligned_alloc", WIRE_MALLOC_ALIGNED),
	WITH_PREFIXES("memalign", WIRE_MALLOC_ALIGNED),
	WITH_PREFIXES("mallocx", WIRE_MALLOC_SIZE),
	WITH_PREFIXES("rallocx", WIRE_MALLOC_AGAIN),
	WITH_PREFIXES("free", WIRE_MALLOC_FREE),
	WITH_PREFIXES("dallocx", WIRE_MALLOC_FREE),
	WITH_PREFIXES("sdallocx", WIRE_MALLOC_FREE),
	{ "valloc", WIRE_MALLOC_SIZE },
	{ "pvalloc", WIRE_MALLOC_SIZE },
	{ "cfree", WIRE_MALLOC_FREE },
	{ "free_sized", WIRE_MALLOC_FREE },
	{ "free_aligned_sized", WIRE_MALLOC_FREE },
	{ "mmap", WIRE_MALLOC_MAP },
	{ "mmap64", WIRE_MALLOC_MAP },
	{ "mremap", WIRE_MALLOC_REMAP },
	{ "munmap", WIRE_MALLOC_FREE },
	{ "_Znwm", WIRE_MALLOC_NEW },
	{ "_Znam", WIRE_MALLOC_NEW },
	{ "_ZnwmRKSt9nothrow_t", WIRE_MALLOC_NEW },
	{ "_ZnamRKSt9nothrow_t", WIRE_MALLOC_NEW },
	{ "_ZnwmSt11align_val_t", WIRE_MALLOC_NEW },
	{ "_ZnamSt11align_val_t", WIRE_MALLOC_NEW },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", WIRE_MALLOC_NEW },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", WIRE_MALLOC_NEW },
	{ "_ZdlPv", WIRE_MALLOC_FREE },
	{ "_ZdaPv", WIRE_MALLOC_FREE },
	{ "_ZdlPvm", WIRE_MALLOC_FREE },
	{ "_ZdaPvm", WIRE_MALLOC_FREE },
	{ "_ZdlPvRKSt9nothrow_t", WIRE_MALLOC_FREE },
	{ "_ZdaPvRKSt9nothrow_t", WIRE_MALLOC_FREE },
	{ "_ZdlPvSt11align_val_t", WIRE_MALLOC_FREE },
	{ "_ZdaPvSt11align_val_t", WIRE_MALLOC_FREE },
	{ "_ZdlPvmSt11align_val_t", WIRE_MALLOC_FREE },
	{ "_ZdaPvmSt11align_val_t", WIRE_MALLOC_FREE },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", WIRE_MALLOC_FREE },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", WIRE_MALLOC_FREE },
	{ "_mid_memalign", WIRE_MALLOC_FORMS },
	{ "_int_malloc", WIRE_MALLOC_FORMS },
	{ "_int_realloc", WIRE_MALLOC_FORMS },
	{ "_int_memalign", WIRE_MALLOC_FORMS },
	{ "__libc_malloc_impl", WIRE_MALLOC_FORMS },
	{ "__libc_realloc", WIRE_MALLOC_FORMS },
	{ "__simple_malloc", WIRE_MALLOC_FORMS },
	{ "__malloc_alloc_meta", WIRE_MALLOC_FORMS },
	{ "tc_malloc", WIRE_MALLOC_FORMS },
	{ "mi_malloc", WIRE_MALLOC_FORMS },
};

/* clang-format on */

static bool begins(const char *name, const char *beginning)
{
	return strncmp(name, beginning, strlen(beginning)) == 0;
}

bool malloc_function_is_cxx(const struct malloc_function *function)
{
	return begins(function->name, "_Z");
}

/* Whoever has one of them has an allocator, and not only a C library's. */
bool malloc_function_is_allocators(const struct malloc_function *function)
{
	static const char *const names[] = { "mallocx", "je_mallocx", "_rjem_mallocx", "tc_malloc",
					     "mi_malloc" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(function->name, names[i]) == 0)
			return true;
	return false;
}

enum malloc_kind malloc_kind_of(const char *path)
{
	const char *name = file_name_of(path);

	if (path[0] != '/')
		return MALLOC_NONE;
	if (!strstr(name, ".so"))
		return MALLOC_PROGRAM;
	/* Of Alpine the loader is all of the C library; before glibc 2.34 files were called by their version. */
	if (begins(name, "libc.so") || begins(name, "libc-2.") || begins(name, "libc.musl-") ||
	    begins(name, "ld-musl-"))
		return MALLOC_LIBC;
	return strstr(name, "malloc") ? MALLOC_ALLOCATOR : MALLOC_NONE;
}
