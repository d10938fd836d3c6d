// SPDX-License-Identifier: Apache-2.0
#include "session/probes/class_form.h"

#include "wire.h"

/* By hotspot.d of src/hotspot/os/posix/dtrace. */
enum { NAME, NAME_BYTES, LOADER, SHARED };

uint64_t class_form(uint32_t step, const struct usdt_note *note)
{
	uint32_t name = usdt_arg_reg(&note->args[NAME], 8);
	uint32_t bytes = usdt_arg_reg(&note->args[NAME_BYTES], 4);
	uint32_t shared = usdt_arg_reg(&note->args[SHARED], 1);
	uint64_t form = step;

	if (name != USDT_NO_REG && bytes != USDT_NO_REG)
		form |= WIRE_CLASS_HAS_NAME | WIRE_USDT_PUT_REG(WIRE_CLASS_NAME, name) |
			WIRE_USDT_PUT_REG(WIRE_CLASS_BYTES, bytes);
	if (shared != USDT_NO_REG)
		form |= WIRE_CLASS_HAS_SHARED | WIRE_USDT_PUT_REG(WIRE_CLASS_SHARED, shared);
	return form;
}
