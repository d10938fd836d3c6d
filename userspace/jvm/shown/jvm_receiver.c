/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/shown/jvm_receiver.h"

#include <errno.h>

#include "jvm/heap/java_objects.h"

int jvm_receiver_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct wire_receiver *ret_receiver)
{
	struct java_objects objects;
	struct vm_flags flags;
	int r = vm_flags_read(vs, &flags);

	if (!r)
		r = java_objects_read(vs, &flags, &objects);
	if (r < 0)
		return r;
	if (layout->blob_name > JVM_LAYOUT_MAX_STRUCT)
		return -EOPNOTSUPP;
	*ret_receiver = (struct wire_receiver){ .object = java_objects_wire(&objects),
						.blob_name = (uint16_t)layout->blob_name };
	return 0;
}
