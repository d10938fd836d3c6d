/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's cpu lists, "0-3,8". */
#ifndef HOSTPROF_CAPTURE_CPU_LIST_H
#define HOSTPROF_CAPTURE_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A bound on cpu numbers: NR_CPUS of the distributions' kernels (CONFIG_MAXSMP). */
#define CPU_LIST_MAX 8192

struct cpu_list {
	bool *has;	   /* owned; by cpu number */
	unsigned int size; /* highest cpu number + 1 */
};

/* -EBADMSG when the text is no such list, -E2BIG beyond CPU_LIST_MAX. */
int cpu_list_parse(const char *text, size_t len, struct cpu_list *ret_list);

static inline bool cpu_list_has(const struct cpu_list *list, unsigned int cpu)
{
	return cpu < list->size && list->has[cpu];
}

/* /sys/devices/system/cpu/online or /possible. */
int cpu_list_read_online(struct cpu_list *ret_list);
int cpu_list_read_possible(struct cpu_list *ret_list);

void cpu_list_release(struct cpu_list *list);

#endif
