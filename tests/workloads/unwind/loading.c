/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: loading SECONDS LIBRARY…
 * Opens one library after the other, runs 0.5 ms of its code, closes it: main -> load_and_run ->
 * plugin_run -> plugin_two -> plugin_burn.
 */
#include "known.h"

#include <dlfcn.h>

KNOWN static uint64_t load_and_run(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	uint64_t (*run)(uint64_t) =
		library ? (uint64_t(*)(uint64_t))dlsym(library, "plugin_run") : NULL;
	uint64_t sum;

	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	sum = run(500000);
	dlclose(library);
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	puts("ready");
	while (known_goes_on(end_ns))
		for (int i = 2; i < argc; i++)
			known_sink += load_and_run(argv[i]);
	return known_done();
}
