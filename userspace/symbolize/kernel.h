/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel addresses → symbol and module, from /proc/kallsyms (modules and BPF programs included). */
#ifndef HOSTPROF_SYMBOLIZE_KERNEL_H
#define HOSTPROF_SYMBOLIZE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kernel_symbols;

/* Reads /proc/kallsyms; -EPERM with a hint when the addresses are hidden (kptr_restrict). */
int kernel_symbols_new(struct kernel_symbols **ret_symbols, struct err *err);
/* For tests: from text. */
int kernel_symbols_parse(const char *text, size_t len, struct kernel_symbols **ret_symbols);
/* The same of variables: which lock one is that is not made while the kernel runs. Few kernels tell of them all (CONFIG_KALLSYMS_ALL). */
int kernel_symbols_new_data(struct kernel_symbols **ret_symbols, struct err *err);
int kernel_symbols_parse_data(const char *text, size_t len, struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *symbols);
DEFINE_CLEANUP(struct kernel_symbols *, kernel_symbols_free);

/* Borrowed names; *ret_module is "kernel" for the core, the module's name or "bpf" else. */
bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
			 const char **ret_name, const char **ret_module);

/* What begins at ADDRESS itself; NULL: nothing. Borrowed. */
const char *kernel_symbols_at(const struct kernel_symbols *symbols, uint64_t address);

/* Hex build id of the running kernel from /sys/kernel/notes, "" when unknown. */
const char *kernel_symbols_build_id(const struct kernel_symbols *symbols);

#endif
