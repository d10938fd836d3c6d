// SPDX-License-Identifier: Apache-2.0
#include "wall/rights.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void keep(uint64_t wanted)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(wanted >> (32 * i));

		data[i].permitted &= part;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, data);
}

void rights_keep_of_broker(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	keep(1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_CHECKPOINT_RESTORE);
}
