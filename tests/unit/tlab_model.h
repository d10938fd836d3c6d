/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's allocation of many objects, and what AllocTracer tells of it: MemAllocator in
 * share/gc/shared/memAllocator.cpp, ThreadLocalAllocBuffer in share/gc/shared/threadLocalAllocBuffer.cpp. A class has a
 * size and its share of a thread's objects, so that the truth is known.
 */
#ifndef HOSTPROF_TESTS_TLAB_MODEL_H
#define HOSTPROF_TESTS_TLAB_MODEL_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "sample/tlab.h"

#define MODEL_CLASSES 8
#define MODEL_THREADS 4
/* -XX:TLABRefillWasteFraction, and -XX:TLABWasteIncrement in bytes. */
#define WASTE_FRACTION 64
#define WASTE_STEP     32

struct model_class {
	uint64_t size;
	uint64_t count, bytes;	     /* the truth */
	double est_bytes, est_count; /* of weights */
	double square; /* of weights: the estimate's variance, where samples are independent */
	double samples;
};

struct model_thread {
	double shares[MODEL_CLASSES]; /* of its objects */
	uint64_t top, end;	      /* of the TLAB, which starts at 0; end 0: there is none */
	uint64_t waste_limit, retired_bytes;
	unsigned int refills;
	struct tlab_book book;
};

struct model {
	struct model_class classes[MODEL_CLASSES];
	struct model_thread threads[MODEL_THREADS];
	unsigned int class_count, thread_count;
	uint64_t desired;    /* bytes of a TLAB */
	uint64_t largest;    /* that a TLAB can have; 0: any */
	uint64_t eden;	     /* bytes between two collections */
	uint64_t region;     /* TLABs end with it, as G1's; 0: there are none */
	uint64_t used, seed; /* of eden */
	void (*seen)(struct model *model, unsigned int klass, uint64_t weight);
	uint64_t interval; /* thin to this; 0: not */
	unsigned int
		slow; /* all threads but the first allocate so many times less than it; 0: as much */
};

static uint64_t model_random(struct model *model)
{
	uint64_t x = model->seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static double model_fraction(struct model *model)
{
	return (double)(model_random(model) >> 11) / 9007199254740992.0;
}

static void model_retire(struct model_thread *thread)
{
	thread->retired_bytes += thread->top;
	thread->top = thread->end = 0;
}

static bool model_collect(struct model *model, uint64_t more)
{
	if (model->used + more <= model->eden)
		return false;
	model->used = 0;
	for (unsigned int i = 0; i < model->thread_count; i++) {
		model_retire(&model->threads[i]);
		model->threads[i].refills = 0;
		model->threads[i].waste_limit = model->desired / WASTE_FRACTION;
	}
	return true;
}

/* Its end, 0: the object does not fit into any. */
static uint64_t model_new_tlab(struct model *model, uint64_t size)
{
	uint64_t bytes = model->desired + size, rest;

	if (model->largest && bytes > model->largest)
		bytes = model->largest;
	model_collect(model, bytes);
	if (model->region) {
		rest = model->region - model->used % model->region;
		if (rest < bytes && rest >= size + 2048)
			bytes = rest;
	}
	if (bytes < size)
		return 0;
	model->used += bytes;
	return bytes;
}

static void model_tell(struct model *model, struct model_thread *thread, unsigned int klass,
		       bool fresh)
{
	uint64_t size = model->classes[klass].size;
	struct tlab_state now = {
		.allocated = thread->retired_bytes + thread->top,
		.room = thread->end - thread->top,
		.desired = model->desired,
		.fresh = fresh,
		.emptied = fresh ? thread->refills == 1 : !thread->end && thread->refills == 0,
	};

	model->seen(model, klass, tlab_weigh(&thread->book, size, &now));
}

static void model_allocate(struct model *model, struct model_thread *thread, unsigned int klass)
{
	uint64_t size = model->classes[klass].size, end;

	model->classes[klass].count++;
	model->classes[klass].bytes += size;
	if (thread->end - thread->top >= size) {
		thread->top += size;
		return;
	}
	if (thread->end - thread->top > thread->waste_limit) {
		thread->waste_limit += WASTE_STEP;
	} else {
		model_retire(thread);
		end = model_new_tlab(model, size);
		if (end) {
			thread->top = size;
			thread->end = end;
			thread->waste_limit = model->desired / WASTE_FRACTION;
			thread->refills++;
			model_tell(model, thread, klass, true);
			return;
		}
	}
	model_collect(model, size);
	model->used += size;
	thread->retired_bytes += size;
	model_tell(model, thread, klass, false);
}

static unsigned int model_choose(struct model *model, const struct model_thread *thread)
{
	double at = model_fraction(model);

	for (unsigned int i = 0; i + 1 < model->class_count; i++) {
		at -= thread->shares[i];
		if (at < 0)
			return i;
	}
	return model->class_count - 1;
}

/* Shares of the objects, from shares of the bytes. */
static void model_set_shares(struct model *model, unsigned int thread, const double *of_bytes)
{
	double sum = 0;

	for (unsigned int i = 0; i < model->class_count; i++)
		sum += of_bytes[i] / (double)model->classes[i].size;
	for (unsigned int i = 0; i < model->class_count; i++)
		model->threads[thread].shares[i] =
			of_bytes[i] / (double)model->classes[i].size / sum;
}

static void model_count(struct model *model, unsigned int klass, uint64_t weight)
{
	struct model_class *c = &model->classes[klass];

	if (model->interval && weight < model->interval) {
		if (model_random(model) % model->interval >= weight)
			return;
		weight = model->interval;
	}
	c->samples++;
	c->est_bytes += (double)weight;
	c->est_count += (double)weight / (double)c->size;
	c->square += (double)weight * (double)weight;
}

/* Threads take turns of some objects. */
static void model_run(struct model *model, uint64_t bytes)
{
	uint64_t done = 0;

	model->seen = model_count;
	while (done < bytes) {
		struct model_thread *thread =
			&model->threads[model_random(model) % model->thread_count];

		unsigned int turn =
			thread > model->threads && model->slow ? 200 / model->slow : 200;

		for (unsigned int i = 0; i < turn; i++) {
			unsigned int klass = model_choose(model, thread);

			model_allocate(model, thread, klass);
			done += model->classes[klass].size;
		}
	}
}

#endif
