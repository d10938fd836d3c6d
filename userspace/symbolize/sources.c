// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer_private.h"

/* An agent's code map knows inlining, lines and times: it is asked before what is read from outside. */
const struct symbol_source symbol_sources[] = {
	{ "kernel", ASK_KERNEL, .keeps = true, .find = kernel_find },
	{ "code map", ASK_CODE | ASK_COMPILED, .find = java_find_code },
	{ "compiled", ASK_COMPILED, .proves = true, .keeps = true, .find = java_find_compiled },
	{ "interpreted", ASK_INTERPRETED, .proves = true, .keeps = true,
	  .find = java_find_interpreted },
	{ "address", ASK_CODE, .keeps = true, .find = native_find_raw },
	{ "file", ASK_CODE, .keeps = true, .find = native_find_file },
	{ "perf map", ASK_CODE, .find = native_find_perf_map },
	{ "memory", ASK_CODE, .keeps = true, .find = native_find_memory },
	{ 0 },
};
