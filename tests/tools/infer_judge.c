// SPDX-License-Identifier: Apache-2.0
/*
 * Hides a file's call frame information (and its symbols), lets its rows be inferred, and compares them with what was hidden, at
 * each instruction: infer_judge [--no-symbols] [--show N] FILE…
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "infer_compare.h"

int main(int argc, char **argv)
{
	struct infer_judge judge = { .show = 0 };
	struct infer_sums all = { 0 };

	for (int i = 1; i < argc; i++) {
		struct infer_sums sums = { 0 };

		if (strcmp(argv[i], "--no-symbols") == 0) {
			judge.no_symbols = true;
			continue;
		}
		if (strcmp(argv[i], "--show") == 0 && i + 1 < argc) {
			judge.show = atoi(argv[++i]); /* NOLINT(cert-err34-c) */
			continue;
		}
		if (infer_judge_file(&judge, argv[i], &sums) < 0) {
			fprintf(stderr, "%s: cannot be read\n", argv[i]);
			return 1;
		}
		infer_sums_print(argv[i], &sums);
		infer_sums_add(&all, &sums);
	}
	infer_sums_print("all", &all);
	return 0;
}
