// SPDX-License-Identifier: Apache-2.0
/* Names and images of containers, as docker, containerd, cri-o and podman write them down; and texts that are no JSON. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/container_names.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char root[64];

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/hostprof-containers-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void write_file(const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *at = whole + strlen(root) + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			mkdir(whole, 0755);
			*at = '/';
		}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect_about(const char *name, const char *image)
{
	struct container_names names = { .root = root };
	const struct container_about *about = container_names_find(&names, ID);

	assert_string_equal(about->name, name);
	assert_string_equal(about->image, image);
	container_names_release(&names);
}

static void of_docker(void **state)
{
	(void)state;
	expect_about("", "");
	write_file(
		"/var/lib/docker/containers/" ID "/config.v2.json",
		"{\"Names\":\"wrong\",\"StreamConfig\":{},\"State\":{\"Running\":true,\"Name\":\"wrong\"},\"ID\":\"" ID
		"\",\"Args\":[\"{\",\"]\",\"\\\"Name\\\":\"],\"Config\":{\"Hostname\":\"h\","
		"\"Image\":\"nginx:1.27\",\"Labels\":{}},\"Image\":\"sha256:12\",\"Name\":\"/web\"}");
	expect_about("web", "nginx:1.27");
}

static void of_containerd(void **state)
{
	(void)state;
	write_file("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		   "{\n \"ociVersion\": \"1.1\",\n \"annotations\" : {\n"
		   "  \"io.kubernetes.cri.container-name\" : \"app\",\n"
		   "  \"io.kubernetes.cri.image-name\": \"docker.io/library/app:2\"\n }\n}\n");
	expect_about("app", "docker.io/library/app:2");
}

static void of_crio(void **state)
{
	(void)state;
	write_file("/run/containers/storage/overlay-containers/" ID "/userdata/config.json",
		   "{\"annotations\":{\"io.kubernetes.cri-o.Name\":\"k8s_app\","
		   "\"io.kubernetes.cri-o.ImageName\":\"quay.io/app:3\"}}");
	expect_about("k8s_app", "quay.io/app:3");
}

static void of_podman(void **state)
{
	(void)state;
	write_file(
		"/var/lib/containers/storage/overlay-containers/containers.json",
		"[{\"id\":\"" OTHER "\",\"names\":[\"other\"],\"metadata\":\"{}\"},"
		"{\"id\":\"" ID "\",\"names\":[\"great_name\"],\"metadata\":"
		"\"{\\\"image-name\\\":\\\"docker.io/library/busybox:latest\\\",\\\"name\\\":\\\"n\\\"}\"}]");
	expect_about("great_name", "docker.io/library/busybox:latest");
	/* Without names of its own. */
	write_file("/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" ID "\",\"names\":[],\"metadata\":\"{\\\"name\\\":\\\"n\\\"}\"}]");
	expect_about("n", "");
	write_file("/var/lib/containers/storage/overlay-containers/containers.json",
		   "[{\"id\":\"" OTHER "\",\"names\":[\"other\"]}]");
	expect_about("", "");
}

/* It is asked for once. */
static void what_was_found_stays(void **state)
{
	struct container_names names = { .root = root };

	(void)state;
	write_file("/var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/a\"}");
	assert_string_equal(container_names_find(&names, ID)->name, "a");
	write_file("/var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/b\"}");
	assert_string_equal(container_names_find(&names, ID)->name, "a");
	assert_string_equal(container_names_find(&names, OTHER)->name, "");
	assert_string_equal(container_names_find(&names, ID)->name, "a");
	container_names_release(&names);
	assert_string_equal(container_names_find(&names, ID)->name, "b");
	container_names_release(&names);
}

static void what_makes_no_sense(void **state)
{
	static const char *const texts[] = { "",
					     "{",
					     "[]",
					     "{\"Name\"",
					     "{\"Name\":",
					     "{\"Name\":\"",
					     "{\"Name\":\"\\",
					     "{\"Name\":\"\\u12",
					     "{\"Name\":\"\\q\"}",
					     "{\"Name\":12}",
					     "{\"Name\":{}}",
					     "{\"a\":}]",
					     "{\"a\":[[[[{{{{",
					     "{\"a\" 1,\"Name\":\"x\"}",
					     "{a:1,\"Name\":\"x\"}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_file("/var/lib/docker/containers/" ID "/config.v2.json", texts[i]);
		expect_about("", "");
	}
}

/* Whatever it is cut to, it is a text that makes no sense. */
static void cut_anywhere(void **state)
{
	static const char text[] =
		"{\"a\":[1,{\"b\":\"\\\"]\"},null],\"Config\":{\"x\":-1.5e3,\"Image\":\"i\\u0041\"},\"Name\":\"/n\"}";

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		_cleanup_free_ char *copy = xmemdup(text, sizeof(text));

		copy[len] = '\0';
		write_file("/var/lib/docker/containers/" ID "/config.v2.json", copy);
		if (len < sizeof(text) - 1)
			expect_about("", "");
		else
			expect_about("n", "iA");
	}
}

/* No more than a title has room for. */
static void a_name_that_is_too_long(void **state)
{
	struct container_names names = { .root = root };
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text), "{\"Name\":\"/%0*d\"}", 2000, 7);
	write_file("/var/lib/docker/containers/" ID "/config.v2.json", text);
	const struct container_about *about = container_names_find(&names, ID);

	assert_int_equal(strlen(about->name), sizeof(about->name) - 2);
	container_names_release(&names);
}

/* Tens of thousands come and go; one that is asked for all the time is not looked up again. */
static void many_containers(void **state)
{
	struct container_names names = { .root = root };
	char id[65];

	(void)state;
	write_file("/var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/kept\"}");
	assert_string_equal(container_names_find(&names, ID)->name, "kept");
	write_file("/var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/other\"}");
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(id, sizeof(id), "%064x", i);
		assert_string_equal(container_names_find(&names, id)->name, "");
		if (i % 500 == 0)
			assert_string_equal(container_names_find(&names, ID)->name, "kept");
		assert_true(names.known.bytes <= CONTAINER_NAMES_BYTES);
	}
	assert_true(names.known.len > 500);
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(id, sizeof(id), "%064x", i + 5000);
		container_names_find(&names, id);
	}
	assert_string_equal(container_names_find(&names, ID)->name, "other");
	container_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_docker, setup, teardown),
		cmocka_unit_test_setup_teardown(of_containerd, setup, teardown),
		cmocka_unit_test_setup_teardown(of_crio, setup, teardown),
		cmocka_unit_test_setup_teardown(of_podman, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_found_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(what_makes_no_sense, setup, teardown),
		cmocka_unit_test_setup_teardown(cut_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_that_is_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(many_containers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
