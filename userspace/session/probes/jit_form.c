// SPDX-License-Identifier: Apache-2.0
#include "session/probes/jit_form.h"

#include <stdbool.h>

#include "base/macros.h"
#include "wire.h"

/* By hotspot.d of src/hotspot/os/posix/dtrace, where each string comes with its length. */
static const struct {
	unsigned int arg, bytes;
} names[] = {
	[WIRE_JIT_COMPILER] = { 0, 8 },	       [WIRE_JIT_CLASS] = { 2, 8 },
	[WIRE_JIT_CLASS_BYTES] = { 3, 4 },     [WIRE_JIT_METHOD] = { 4, 8 },
	[WIRE_JIT_METHOD_BYTES] = { 5, 4 },    [WIRE_JIT_SIGNATURE] = { 6, 8 },
	[WIRE_JIT_SIGNATURE_BYTES] = { 7, 4 },
};

#define SUCCESS 8

static uint64_t form_of_names(const struct usdt_note *note)
{
	uint64_t form = WIRE_JIT_HAS_NAMES;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t reg = usdt_arg_reg(&note->args[names[i].arg], names[i].bytes);

		if (reg == USDT_NO_REG)
			return 0;
		form |= WIRE_USDT_PUT_REG(i, reg);
	}
	return form;
}

static uint64_t form_of_success(const struct usdt_arg *arg)
{
	uint64_t form = WIRE_USDT_PUT_REG(WIRE_JIT_TASK, arg->reg);

	if (arg->bytes != 1)
		return 0;
	if (arg->where == USDT_IN_REG)
		return form | WIRE_JIT_HAS_SUCCESS;
	if (arg->where != USDT_IN_MEMORY || arg->displacement < 0 ||
	    arg->displacement > WIRE_JIT_MOST_DISPLACEMENT)
		return 0;
	return form | WIRE_JIT_HAS_TASK | WIRE_JIT_FORM_AT(arg->displacement);
}

uint64_t jit_form(uint32_t step, const struct usdt_note *note)
{
	return step | form_of_names(note) | form_of_success(&note->args[SUCCESS]);
}
