// SPDX-License-Identifier: Apache-2.0
#include "session/probes/first_form.h"

#include "wire.h"

uint64_t first_form(uint32_t step, const struct usdt_note *note)
{
	const struct usdt_arg *arg = &note->args[0];

	if (arg->where == USDT_IN_MEMORY && arg->bytes == 8 && arg->displacement >= INT16_MIN &&
	    arg->displacement <= INT16_MAX)
		return WIRE_USDT_FORM_AT(step, arg->reg, arg->displacement);
	return WIRE_USDT_FORM(step, usdt_arg_reg(arg, 8));
}
