/* SPDX-License-Identifier: Apache-2.0 */
/* The PMUs that the kernel has for probes, "uprobe" and "kprobe" (perf_uprobe and perf_kprobe in kernel/events/core.c). */
#ifndef HOSTPROF_CAPTURE_PROBES_PROBE_PMU_H
#define HOSTPROF_CAPTURE_PROBES_PROBE_PMU_H

#include <stdbool.h>
#include <stdint.h>

/* What perf_event_attr says of a probe of PMU, or with IS_RETURN of a return: type and config. -EOPNOTSUPP: this kernel has none. */
int probe_pmu_find(const char *pmu, bool is_return, uint32_t *ret_type, uint64_t *ret_config);

#endif
