/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a live JVM's code as a recording reads them from outside. Lines "ADDRESS COMPILE-ID" (or -: what is
 * there, as a stub has none) of standard input are answered by "method NAME(DESCRIPTOR)TYPE", "stub NAME" or "none ERROR"; with "chains" by all frames of
 * that place, "method NAME@BCI:LINE < NAME@BCI:LINE < …", innermost first. With a number, by what it took of a cpu to name all of
 * them through a broker, as a recording does, and so many at once. Usage: code_names PID [chains | NUMBER]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/reader/reader.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/names/code_blob.h"
#include "jvm/names/code_names.h"
#include "wall/wall.h"

static void print_chain(const struct java_answer *answer)
{
	for (unsigned int i = 0; i < answer->count; i++) {
		const struct java_frame *frame = &answer->frames[i];

		printf("%s %s.%s%s@%d:%d", i ? " <" : "method", frame->class_name, frame->method,
		       frame->descriptor, frame->bci, frame->line);
	}
	printf("\n");
}

/* What a sample would have of the blob at ADDRESS. */
static uint32_t id_now(const struct vmstructs *vs, const struct jvm_layout *layout,
		       uint64_t address)
{
	struct code_blob blob = { 0 };

	(void)code_blob_find(vmstructs_memory(vs), layout, address, &blob);
	return blob.compile_id;
}

static void answer(struct code_names *names, uint64_t address, uint32_t compile_id, bool chains)
{
	static struct java_answer answer;
	const struct java_frame *outer;
	int r = code_names_find(names, address, compile_id, &answer);

	if (r < 0)
		printf("none %s\n", strerror(-r));
	else if (answer.stub)
		printf("stub %s\n", answer.stub);
	else if (chains)
		print_chain(&answer);
	else {
		outer = &answer.frames[answer.count - 1];
		printf("method %s.%s%s\n", outer->class_name, outer->method, outer->descriptor);
	}
	fflush(stdout);
}

/* --- what it costs ---------------------------------------------------------------------------- */

struct places {
	VEC(struct code_place) all;
};

/* As in a recording: a sample, and a while nothing. */
#define PAUSE_US 1000

static uint64_t own_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t brokers_ns(void)
{
	struct wall_figures figures;

	wall_get_figures(&figures);
	return figures.cpu_ns;
}

static void read_places(struct places *places)
{
	struct code_place place;
	char line[128];

	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "%" SCNx64 " %" SCNu32, &place.address, &place.compile_id) == 2)
			vec_push(&places->all, place);
}

/* AT_ONCE of them are met together, as those of a sample are; how many have a name. */
static unsigned int name_some(struct code_names *names, const struct code_place *places,
			      unsigned int count)
{
	static struct java_answer answer;
	unsigned int found = 0;

	if (count > 1)
		code_names_meet(names, places, count);
	wall_rest();
	for (unsigned int i = 0; i < count; i++)
		found += code_names_find(names, places[i].address, places[i].compile_id, &answer) ==
			 0;
	return found;
}

static void print_cost(struct code_names *names, unsigned int at_once)
{
	struct places places = { VEC_INIT };
	uint64_t own = 0, brokers;
	unsigned int found = 0;

	read_places(&places);
	brokers = brokers_ns();
	for (size_t i = 0; i < places.all.len; i += at_once) {
		uint64_t begin_ns = own_ns();

		found += name_some(names, places.all.items + i,
				   MIN(at_once, (unsigned int)(places.all.len - i)));
		own += own_ns() - begin_ns;
		usleep(PAUSE_US);
	}
	brokers = brokers_ns() - brokers;
	printf("%u of %zu named, %.2f us each: %.2f own, %.2f of the broker\n", found,
	       places.all.len, (double)(own + brokers) / (double)places.all.len / 1000,
	       (double)own / (double)places.all.len / 1000,
	       (double)brokers / (double)places.all.len / 1000);
	vec_release(&places.all);
}

/* --- the program ------------------------------------------------------------------------------ */

static void print_names(const struct vmstructs *vs, const struct jvm_layout *layout,
			struct code_names *names, bool chains)
{
	char line[128], id[32];
	uint64_t address;

	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "%" SCNx64 " %31s", &address, id) == 2)
			answer(names, address,
			       strcmp(id, "-") ? (uint32_t)strtoul(id, NULL, 10)
					       : id_now(vs, layout, address),
			       chains);
}

int main(int argc, char **argv)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	_cleanup_(method_names_freep) struct method_names *methods = NULL;
	_cleanup_(code_names_freep) struct code_names *names = NULL;
	const unsigned int cost = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;
	struct scopes_layout scopes;
	struct jvm_layout layout;
	struct err err = { 0 };

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: %s PID [chains | NUMBER]\n", argv[0]);
		return 2;
	}
	if ((cost && wall_begin(&reader_trade, NULL, &err) < 0) ||
	    vmstructs_open(NULL, (uint32_t)atoi(argv[1]), NULL, &vs, &err) < 0 ||
	    jvm_layout_read(vs, &layout, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	methods = method_names_new(vmstructs_memory(vs), &layout);
	scopes_layout_read(vs, &scopes);
	names = code_names_new(vmstructs_memory(vs), &layout, &scopes, methods);
	if (cost)
		print_cost(names, cost);
	else
		print_names(vs, &layout, names, argc == 3);
	wall_end();
	return 0;
}
