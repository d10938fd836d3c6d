// SPDX-License-Identifier: Apache-2.0
/* share/classfile/classLoaderData.hpp: each loader has a list of its classes, the newest first, JDK 21 to 28. */
#include "jvm/continuation/boot_classes.h"

#include <errno.h>

#include "base/macros.h"
#include "jvm/continuation/jvm_classes.h"

/* java.base has some 7,000, of which a program loads 500 to 2,000; arrays are on no list. */
#define MAX_CLASSES 65536
#define WORD_BYTES  8

struct offsets {
	uint64_t loader;  /* in a Klass */
	uint64_t classes; /* in a ClassLoaderData */
	uint64_t next;	  /* in a Klass */
};

static int read_offsets(const struct vmstructs *vs, struct offsets *ret)
{
	if (vmstructs_field_offset(vs, "Klass", "_class_loader_data", &ret->loader) < 0 ||
	    vmstructs_field_offset(vs, "ClassLoaderData", "_klasses", &ret->classes) < 0 ||
	    vmstructs_field_offset(vs, "Klass", "_next_link", &ret->next) < 0)
		return -EOPNOTSUPP;
	return 0;
}

static int read_word(struct vm_pages *pages, uint64_t address, uint64_t *ret)
{
	return address % WORD_BYTES ? -EBADMSG : vm_pages_read(pages, address, ret, sizeof(*ret));
}

/* Of the loader that has Object: its first class. */
static int read_first(const struct vmstructs *vs, const struct offsets *o, struct vm_pages *pages,
		      uint64_t *ret_klass)
{
	uint64_t object, loader;
	int r = jvm_classes_object(vs, &object);

	if (!r)
		r = read_word(pages, object + o->loader, &loader);
	if (!r)
		r = loader ? read_word(pages, loader + o->classes, ret_klass) : -EAGAIN;
	return r;
}

/* How many of them were found by it. */
static size_t take(const struct jvm_layout *layout, struct vm_pages *pages, uint64_t klass,
		   struct boot_class *classes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (classes[i].klass ||
		    !jvm_classes_has_name(layout, pages, klass, classes[i].name))
			continue;
		classes[i].klass = klass;
		return 1;
	}
	return 0;
}

int boot_classes_find(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct vm_pages *pages, struct boot_class *classes, size_t count)
{
	struct offsets o;
	uint64_t klass;
	size_t found = 0;
	int r = read_offsets(vs, &o);

	if (!r)
		r = read_first(vs, &o, pages, &klass);
	for (unsigned int i = 0; !r && klass && found < count; i++) {
		if (i == MAX_CLASSES)
			return -E2BIG;
		found += take(layout, pages, klass, classes, count);
		r = read_word(pages, klass + o.next, &klass);
	}
	return r;
}
