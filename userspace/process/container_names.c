// SPDX-License-Identifier: Apache-2.0
/*
 * docker:      moby's daemon/container.go, config.v2.json: Name ("/web"), Config.Image
 * containerd:  the OCI bundle of its shim; annotations of pkg/cri/annotations
 * cri-o:       the OCI bundle; annotations of internal/annotations
 * podman:      containers/storage's containers.json: an object for each, whose metadata is a JSON text
 */
#include "process/container_names.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "process/json_scan.h"
#include "wall/wall.h"

#define MAX_BYTES (4U << 20)

static const struct {
	const char *path; /* with the id in it */
	const char *name[3], *image[3];
} sources[] = {
	{ "/var/lib/docker/containers/%s/config.v2.json", { "Name" }, { "Config", "Image" } },
	{ "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
	  { "annotations", "io.kubernetes.cri.container-name" },
	  { "annotations", "io.kubernetes.cri.image-name" } },
	{ "/run/containerd/io.containerd.runtime.v2.task/default/%s/config.json",
	  { "annotations", "nerdctl/name" },
	  { "annotations", "nerdctl/image" } },
	{ "/run/containers/storage/overlay-containers/%s/userdata/config.json",
	  { "annotations", "io.kubernetes.cri-o.Name" },
	  { "annotations", "io.kubernetes.cri-o.ImageName" } },
};

static const char *const lists[] = {
	"/var/lib/containers/storage/overlay-containers/containers.json",
	"/var/lib/containers/storage/vfs-containers/containers.json",
};

/* All of a file of this host's; false also when somebody would have to be waited for. */
static bool read_all(const char *path, struct strbuf *out)
{
	_cleanup_close_ int fd = wall_open_in_root(0, path, 0);

	return fd >= 0 && file_read_fd(fd, MAX_BYTES, out) == 0 && out->len;
}

/* The string behind the keys of PATH; what does not fit is cut. */
static void take_string(struct json_scan scan, const char *const *path, char *ret, size_t size)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (; *path; path++)
		if (!json_scan_find(&scan, *path))
			return;
	if (json_scan_string(&scan, &text))
		snprintf(ret, size, "%s", strbuf_str(&text));
}

static bool read_source(const char *root, size_t source, const char *id,
			struct container_about *about)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	const char *hole = strstr(sources[source].path, "%s");

	strbuf_addf(&path, "%s%.*s%s%s", root, (int)(hole - sources[source].path),
		    sources[source].path, id, hole + 2);
	if (!read_all(strbuf_str(&path), &text))
		return false;
	const struct json_scan scan = { text.buf, text.buf + text.len };

	take_string(scan, sources[source].name, about->name, sizeof(about->name));
	take_string(scan, sources[source].image, about->image, sizeof(about->image));
	if (about->name[0] == '/')
		memmove(about->name, about->name + 1, strlen(about->name));
	return about->name[0] || about->image[0];
}

static bool is_of(struct json_scan element, const char *id)
{
	_cleanup_strbuf_ struct strbuf its_id = STRBUF_INIT;

	return json_scan_find(&element, "id") && json_scan_string(&element, &its_id) &&
	       strcmp(strbuf_str(&its_id), id) == 0;
}

static void take_listed(struct json_scan element, struct container_about *about)
{
	static const char *const name[] = { "name", NULL }, *const image[] = { "image-name", NULL };
	_cleanup_strbuf_ struct strbuf metadata = STRBUF_INIT;
	struct json_scan names = element;

	if (json_scan_find(&names, "names") && json_scan_first(&names))
		take_string(names, (const char *const[]){ NULL }, about->name, sizeof(about->name));
	if (!json_scan_find(&element, "metadata") || !json_scan_string(&element, &metadata))
		return;
	element = (struct json_scan){ metadata.buf, metadata.buf + metadata.len };
	if (!about->name[0])
		take_string(element, name, about->name, sizeof(about->name));
	take_string(element, image, about->image, sizeof(about->image));
}

static bool read_list(const char *root, const char *path, const char *id,
		      struct container_about *about)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT, text = STRBUF_INIT;
	struct json_scan scan;

	strbuf_addf(&whole, "%s%s", root, path);
	if (!read_all(strbuf_str(&whole), &text))
		return false;
	scan = (struct json_scan){ text.buf, text.buf + text.len };
	for (bool more = json_scan_first(&scan); more; more = json_scan_next(&scan)) {
		if (!is_of(scan, id))
			continue;
		take_listed(scan, about);
		return true;
	}
	return false;
}

static void read_about(const char *root, const char *id, struct container_about *about)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (read_source(root, i, id, about))
			return;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (read_list(root, lists[i], id, about))
			return;
}

void container_names_release(struct container_names *names)
{
	uint64_t key, value;
	size_t at = 0;

	while (hmap_next(&names->known, &at, &key, &value))
		free((void *)(uintptr_t)value);
	hmap_release(&names->known);
}

const struct container_about *container_names_find(struct container_names *names, const char *id)
{
	uint64_t hash = hash_bytes(id, strlen(id));
	struct container_about *about = hmap_find_ptr(&names->known, hash);

	if (about)
		return about;
	if (names->known.len >= CONTAINER_NAMES_MAX)
		container_names_release(names);
	about = xcalloc(1, sizeof(*about));
	read_about(names->root ? names->root : "", id, about);
	hmap_put_ptr(&names->known, hash, about);
	return about;
}
