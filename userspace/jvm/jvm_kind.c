/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_kind.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "elf/reader/reader_file.h"
#include "jvm/layout/libjvm.h"
#include "process/proc.h"
#include "wall/wall.h"

#define MAX_MAPS_BYTES (16U << 20)

/* OpenJ9's runtime: libj9vm29.so; it has a libjvm.so too, which only passes calls on. */
#define OPENJ9_PREFIX "/libj9vm"

enum jvm_kind jvm_kind_of_maps(const char *maps, size_t len)
{
	enum jvm_kind kind = JVM_KIND_NONE;
	struct maps_line line;
	ssize_t n;

	for (; len && (n = proc_parse_maps_line(maps, len, &line)) > 0;
	     maps += n, len -= (size_t)n) {
		if (memmem(line.path, line.path_len, OPENJ9_PREFIX, strlen(OPENJ9_PREFIX)))
			return JVM_KIND_OPENJ9;
		if (libjvm_is_path(line.path, line.path_len))
			kind = JVM_KIND_HOTSPOT;
	}
	return kind;
}

enum jvm_kind jvm_kind_of_process(uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	if (proc_read_file(pid, path, MAX_MAPS_BYTES, &text) < 0)
		return JVM_KIND_NONE;
	return jvm_kind_of_maps(text.buf, text.len);
}

/* Symbols that the image builder puts into every program; which of them, depends on its release. */
static const char *const image_symbols[] = { "__svm_version_info", "__svm_code_section",
					     "__svm_heap_begin" };

enum jvm_kind jvm_kind_of_executable(uint32_t pid)
{
	uint64_t addresses[ARRAY_SIZE(image_symbols)];
	_cleanup_close_ int fd = -1;
	struct err err = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	fd = wall_open(pid, path);
	if (fd < 0 || reader_find(fd, READER_FIND_SYMBOL, image_symbols, ARRAY_SIZE(image_symbols),
				  addresses, &err) < 0)
		return JVM_KIND_NONE;
	for (unsigned int i = 0; i < ARRAY_SIZE(image_symbols); i++)
		if (addresses[i] != READER_NOT_THERE)
			return JVM_KIND_NATIVE_IMAGE;
	return JVM_KIND_NONE;
}
