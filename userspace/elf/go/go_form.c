// SPDX-License-Identifier: Apache-2.0
#include "elf/go/go_form.h"

const struct go_layout go_layouts[GO_FORMS] = {
	[GO_1_2] = { 0xfffffffb, 16, 8, 40, .text = false, .unit = false, .inlined = 0 },
	[GO_1_16] = { 0xfffffffa, 64, 8, 44, .text = false, .unit = true, .inlined = 0 },
	[GO_1_18] = { 0xfffffff0, 72, 4, 40, .text = true, .unit = true, .inlined = 20 },
	[GO_1_20] = { 0xfffffff1, 72, 4, 44, .text = true, .unit = true, .inlined = 16 },
};
