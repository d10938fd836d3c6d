// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/probe_pmu.h"

#include <errno.h>

#include "capture/events/pmu_field.h"

int probe_pmu_find(const char *pmu, bool is_return, uint32_t *ret_type, uint64_t *ret_config)
{
	uint64_t configs[PMU_CONFIGS] = { 0 };
	struct pmu_field field;

	if (pmu_type(pmu, ret_type) < 0 || pmu_field_find(pmu, "retprobe", &field) < 0 ||
	    field.config)
		return -EOPNOTSUPP;
	pmu_field_put(&field, is_return, configs);
	*ret_config = configs[0];
	return 0;
}
