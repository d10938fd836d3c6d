// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <string.h>

#include "process/proc.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD "pod5e4d3c2b-1a09-4877-8665-544332211000"

static const struct {
	const char *path;
	const char *id;
} cases[] = {
	{ "/system.slice/docker-" ID ".scope", ID },
	{ "/docker/" ID, ID },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-" POD
	  ".slice/cri-containerd-" ID ".scope",
	  ID },
	{ "/kubepods/burstable/" POD "/" ID, ID },
	{ "/kubepods/besteffort/" POD "/" ID "/system.slice/cron.service", ID },
	{ "/system.slice/containerd.service/kubepods-besteffort-" POD ".slice:cri-containerd:" ID,
	  ID },
	{ "/kubepods.slice/kubepods-" POD ".slice/crio-" ID ".scope", ID },
	{ "/machine.slice/libpod-" ID ".scope/container", ID },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", ID },
	{ "/libpod_parent/libpod-" ID, ID },
	{ "/docker/" ID "/docker/" ID2, ID2 },
	{ "", "" },
	{ "/", "" },
	{ "/system.slice/ssh.service", "" },
	{ "/user.slice/user-1000.slice/session-3.scope", "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "" },
	{ "/kubepods.slice/crio-conmon-" ID ".scope", "" },
	{ "/docker/x" ID, "" },	   /* 65 characters */
	{ "/docker/" ID "0", "" }, /* 65 digits */
	{ "/docker/0123456789abcdef", "" },
	{ "/docker/Z123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "" },
};

static void container_ids_of_runtimes(void **state)
{
	char id[65];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		container_id_from_cgroup(cases[i].path, id);
		if (strcmp(id, cases[i].id) != 0)
			fail_msg("%s: got \"%s\", expected \"%s\"", cases[i].path, id, cases[i].id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(container_ids_of_runtimes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
