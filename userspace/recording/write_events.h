/* SPDX-License-Identifier: Apache-2.0 */
/* Our events (recording/types.h) as bytes. Strings must be in the pools: jfr_pools_update(). */
#ifndef HOSTPROF_RECORDING_WRITE_EVENTS_H
#define HOSTPROF_RECORDING_WRITE_EVENTS_H

#include "base/strbuf.h"
#include "profile/profile.h"
#include "recording/samples/event_names.h"
#include "recording/write_pools.h"

void jfr_put_samples(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p);

/* hostprof.Recording. */
void jfr_put_recording(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       uint64_t time_ns);

/* hostprof.Event, hostprof.Process and hostprof.Mapping of the entries from FIRST on. */
void jfr_put_event_kinds(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
			 uint32_t first, uint64_t time_ns);
void jfr_put_processes(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       uint32_t first, uint64_t time_ns);
void jfr_put_mappings(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		      uint32_t first, uint64_t time_ns);

/* hostprof.Quality and hostprof.Counter. */
void jfr_put_quality(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		     uint64_t time_ns);
void jfr_put_counters(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		      uint64_t time_ns);

#endif
