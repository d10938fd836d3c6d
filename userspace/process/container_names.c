// SPDX-License-Identifier: Apache-2.0
/*
 * docker:      moby's daemon/container.go, config.v2.json: Name ("/web"), Config.Image
 * containerd:  the OCI bundle of its shim; annotations of pkg/cri/annotations
 * cri-o:       the OCI bundle; annotations of internal/annotations
 * podman:      containers/storage's containers.json: an object for each, whose metadata is a JSON text
 */
#include "process/container_names.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hmap.h"
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

/* What a file of this host's says; NULL also when somebody would have to be waited for. */
static json_t *read_json(const char *root, const char *path)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT, text = STRBUF_INIT;
	_cleanup_close_ int fd = -1;

	strbuf_addf(&whole, "%s%s", root, path);
	fd = wall_open_in_root(0, strbuf_str(&whole), 0);
	if (fd < 0 || file_read_fd(fd, MAX_BYTES, &text))
		return NULL;
	return json_loadb(text.buf, text.len, 0, NULL);
}

/* The string behind the keys of PATH; what does not fit is cut. */
static void take_string(const json_t *value, const char *const *path, char *ret, size_t size)
{
	for (; *path; path++)
		value = json_object_get(value, *path);
	if (json_is_string(value))
		snprintf(ret, size, "%s", json_string_value(value));
}

static bool read_source(const char *root, size_t source, const char *id,
			struct container_about *about)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	const char *hole = strstr(sources[source].path, "%s");
	json_auto_t *said = NULL;

	strbuf_addf(&path, "%.*s%s%s", (int)(hole - sources[source].path), sources[source].path, id,
		    hole + 2);
	said = read_json(root, strbuf_str(&path));
	take_string(said, sources[source].name, about->name, sizeof(about->name));
	take_string(said, sources[source].image, about->image, sizeof(about->image));
	if (about->name[0] == '/')
		memmove(about->name, about->name + 1, strlen(about->name));
	return about->name[0] || about->image[0];
}

static bool is_of(const json_t *element, const char *id)
{
	const char *its_id = json_string_value(json_object_get(element, "id"));

	return its_id && strcmp(its_id, id) == 0;
}

static void take_listed(const json_t *element, struct container_about *about)
{
	static const char *const name[] = { "name", NULL }, *const image[] = { "image-name", NULL };
	const json_t *names = json_object_get(element, "names");
	const char *text = json_string_value(json_object_get(element, "metadata"));
	json_auto_t *metadata = text ? json_loads(text, 0, NULL) : NULL;

	take_string(json_array_get(names, 0), (const char *const[]){ NULL }, about->name,
		    sizeof(about->name));
	if (!about->name[0])
		take_string(metadata, name, about->name, sizeof(about->name));
	take_string(metadata, image, about->image, sizeof(about->image));
}

static bool read_list(const char *root, const char *path, const char *id,
		      struct container_about *about)
{
	json_auto_t *list = read_json(root, path);
	json_t *element;
	size_t i;

	json_array_foreach(list, i, element)
	{
		if (!is_of(element, id))
			continue;
		take_listed(element, about);
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

static void drop_about(uint64_t value, void *data)
{
	(void)data;
	free((void *)(uintptr_t)value); /* NOLINT: a pointer that was put there */
}

void container_names_release(struct container_names *names)
{
	lru_clear(&names->known);
}

const struct container_about *container_names_find(struct container_names *names, const char *id)
{
	uint64_t hash = hash_bytes(id, strlen(id)), known;
	struct container_about *about;

	if (lru_get(&names->known, hash, &known))
		return (const struct container_about *)(uintptr_t)known; /* NOLINT: as above */
	if (!names->known.limit_bytes)
		lru_init(&names->known, CONTAINER_NAMES_BYTES, drop_about, NULL);
	about = xcalloc(1, sizeof(*about));
	read_about(names->root ? names->root : "", id, about);
	lru_put(&names->known, hash, (uintptr_t)about, sizeof(*about));
	return about;
}
