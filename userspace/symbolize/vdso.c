// SPDX-License-Identifier: Apache-2.0
#include "process/own_vdso.h"
#include "symbolize/symbolizer_private.h"

struct image *vdso_image(struct symbolizer *symbolizer)
{
	const void *data;
	size_t len;

	if (symbolizer->vdso)
		return symbolizer->vdso;
	data = own_vdso(&len);
	if (data)
		symbolizer->vdso = image_cache_add_memory(symbolizer->images, "[vdso]", data, len);
	return symbolizer->vdso;
}
