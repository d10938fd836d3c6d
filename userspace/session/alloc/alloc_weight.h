/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample of an allocation stands for. */
#ifndef HOSTPROF_SESSION_ALLOC_WEIGHT_H
#define HOSTPROF_SESSION_ALLOC_WEIGHT_H

#include <stdint.h>

/*
 * Sample points lie INTERVAL bytes apart on average, at random, so that an object of SIZE bytes is hit
 * with a chance of 1 - e^(-SIZE / INTERVAL): it stands for as many bytes as SIZE divided by that. The numbers
 * are a JVM's words: an interval of 0 is a certain hit, a size over a terabyte is one.
 */
uint64_t alloc_weight_bytes(uint64_t size, uint64_t interval);

/*
 * And for so many objects. What is not a whole one is *CARRIED (0 at first) to the next sample of the
 * same process, so that sums are right.
 */
uint64_t alloc_weight_objects(uint64_t bytes, uint64_t size, double *carried);

#endif
