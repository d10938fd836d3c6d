/* SPDX-License-Identifier: Apache-2.0 */
/* Source: share/classfile/vmClasses.hpp: an array, whose first element VMStructs tell of, JDK 17 to 28. */
#include "jvm/continuation/jvm_classes.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

/* vmClasses::_klasses has 110 to 130; its first one is that of Object. */
#define OBJECT_CLASS "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]"
#define MAX_CLASSES  192
/* Names of classes that are looked for are shorter. */
#define MAX_NAME   80
#define WORD_BYTES 8

bool jvm_classes_has_name(const struct jvm_layout *layout, struct vm_pages *pages, uint64_t klass,
			  const char *name)
{
	const size_t wanted = strlen(name);
	char text[MAX_NAME];
	uint64_t symbol;
	uint16_t len;

	if (!klass || klass % WORD_BYTES || wanted > sizeof(text) ||
	    vm_pages_read(pages, klass + layout->klass_name, &symbol, sizeof(symbol)) < 0 ||
	    !symbol || symbol % WORD_BYTES ||
	    vm_pages_read(pages, symbol + layout->symbol_length, &len, sizeof(len)) < 0 ||
	    len != wanted)
		return false;
	return vm_pages_read(pages, symbol + layout->symbol_body, text, len) == 0 &&
	       !memcmp(text, name, len);
}

int jvm_classes_object(const struct vmstructs *vs, uint64_t *ret_klass)
{
	int r = vmstructs_static_u64(vs, "vmClasses", OBJECT_CLASS, ret_klass);

	return !r && !*ret_klass ? -EAGAIN : r;
}

int jvm_classes_find(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct vm_pages *pages, const char *name, uint64_t *ret_klass)
{
	uint64_t first, klasses[MAX_CLASSES];
	int r = vmstructs_static(vs, "vmClasses", OBJECT_CLASS, &first);

	if (!r)
		r = vm_pages_read(pages, first, klasses, sizeof(klasses));
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(klasses); i++) {
		if (!jvm_classes_has_name(layout, pages, klasses[i], name))
			continue;
		*ret_klass = klasses[i];
		return 0;
	}
	return -EAGAIN;
}
