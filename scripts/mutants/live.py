# SPDX-License-Identifier: Apache-2.0
"""Of --live: objects that are alive, in the agent's table, between it and us, and at the end of a run."""
from .mutant import Mutant

TABLE = "jvmagent/live.c"
CODEMAP = "jvmagent/codemap.h"
CONTROL = "jvmagent/control.c"
AGENT = "jvmagent/agent.c"
READER = "userspace/jvm/jvm_live.c"
JVM = "userspace/jvm/jvm.c"
STORE = "userspace/session/alloc/live_objects.c"
COPY = "userspace/profile/profile_copy.c"
PIPELINE = "userspace/session/pipeline.c"
PART = "userspace/session/pipeline_live.c"

IN_AGENT = ["test_agent_live"]
BETWEEN = ["test_agent_jvm_live"]
STORED = ["test_live_objects"]
RUN = ["test_pipeline_live"]

MUTANTS = [
    Mutant("live: the dead are told", TABLE, "(*jni)->IsSameObject(jni, claim->slot.object, NULL);", "false;", IN_AGENT),
    Mutant("live: references of the dead stay", TABLE, "if (claim->gone)\n\t\t(*jni)", "if (round->drop)\n\t\t(*jni)", IN_AGENT),
    Mutant("live: what no collection looked at is alive", TABLE, "else if (round->tell && is_known_to_live(&a->live, slot))",
           "else if (round->tell)", IN_AGENT),
    Mutant("live: every collection looks at young objects", TABLE,
           "if (live->canary && !(*jni)->IsSameObject(jni, live->canary, NULL))\n\t\treturn;", "", IN_AGENT),
    Mutant("live: what came after the canary was looked at", TABLE, "live->looked_at = live->canary_at + 1;",
           "live->looked_at = live->collections;", IN_AGENT),
    Mutant("live: a full table takes none", TABLE, "\t\traise_level(live);\n\t}\n\treturn false;", "\t\tbreak;\n\t}\n\treturn false;",
           IN_AGENT),
    Mutant("live: a slot that is looked at is given away", TABLE, "!live->slots[at].claimed && ", "", IN_AGENT),
    Mutant("live: an object is taken after the end", TABLE, "taken = live->on && make_room", "taken = make_room", IN_AGENT),
    Mutant("live: references stay after the end", TABLE, "\tgo_round(a, jni, &round);\n\tdrop_canary", "\tdrop_canary", IN_AGENT),
    Mutant("live: the canary stays after the end", TABLE, "\tdrop_canary(live, jni);\n\tmadvise", "\tmadvise", IN_AGENT),
    Mutant("live: ids begin anew", TABLE, "live->next_id = next_id;", "live->next_id = next_id & 0;", ["test_agent_live"]),
    Mutant("live: the living are looked at in every collection", TABLE, "if (is_crowded(live))\n\t\tthin_out(a, jni);", "", IN_AGENT),
    Mutant("live: a report begins a replay's table anew", TABLE, "if (live->on || !jni)\n\t\treturn;\n\tlive->watched_at",
           "if (!jni)\n\t\treturn;\n\tlive->watched_at", IN_AGENT),
    Mutant("live: no full collection", CONTROL, "command == CODEMAP_COMMAND_LIVE_COLLECT);\n\t} else", "0);\n\t} else", IN_AGENT),
    Mutant("live: followed on when the lease has lapsed", AGENT, "if (!live)\n\t\tlive_end(a);", "", IN_AGENT),
    Mutant("live: a level keeps a fourth", CODEMAP, "!(mixed & ((1ULL << level) - 1));", "!(mixed & ((1ULL << 2 * level) - 1));",
           IN_AGENT),
    Mutant("live: somebody else's report", READER, " && event->objects.seq == live->seq", "", BETWEEN),
    Mutant("live: a report overtakes a replay", READER, "if (!codemap_reader_is_done(&jvm->reader))\n\t\treturn;", "", BETWEEN),
    Mutant("live: a replay overtakes a report", JVM, " || jvm_live_is_due(jvm))", ")", BETWEEN),
    Mutant("live: half a report is one", READER, "if (live->state != JVM_LIVE_TOLD)\n\t\treturn true;", "", BETWEEN),
    Mutant("live: a silent JVM is waited for", READER, " && now_ns < jvm->live.until_ns;", ";", BETWEEN),
    Mutant("live: gone before its sample", READER, "live->gone.items[n].time_ns <= until_ns", "until_ns", BETWEEN),
    Mutant("live: weights without the level", STORE, ".weight = object->weight << level,", ".weight = object->weight,", STORED),
    Mutant("live: objects without the level", STORE, ".objects = object->objects << level,", ".objects = object->objects,", STORED),
    Mutant("live: an object told twice counts twice", STORE,
           "/* Whoever says it twice is not believed twice. */\n\t\tremove_at(owner, at);", "", STORED),
    Mutant("live: a store without a bound", STORE, "while (owner->objects.len >= share_of_one(all) && owner->level < LIVE_OBJECTS_MOST_LEVELS)\n\t\tset_level(owner, owner->level + 1);\n\tif (owner->objects.len >= share_of_one(all) ||",
           "if (", STORED),
    Mutant("live: old levels stay in the store", STORE, "for (size_t i = owner->objects.len; i-- > 0;)\n\t\tif (!codemap",
           "for (size_t i = 0; i-- > 0;)\n\t\tif (!codemap", STORED),
    Mutant("live: the last object is lost with another", STORE, "hmap_put(&owner->by_id, last->id, at);", "", STORED),
    Mutant("live: a moved frame has no class", COPY, "copy.class_name = copy_string(to, from, copy.class_name);", "copy.class_name = 0;",
           STORED),
    Mutant("live: a moved thread has another process", COPY, "copy.process = copy_process(to, from, copy.process);", "", STORED),
    Mutant("live: a chunk's end loses the stacks", PIPELINE, "live_objects_move(&pipeline->live, profile, &fresh);", "", RUN),
    Mutant("live: nobody waits for the report", PIPELINE, " ||\n\t       pipeline_live_waits(pipeline)) {", ") {", RUN),
    Mutant("live: a JVM that did not answer is not named", PART, "if (!pipeline->live_missing++)", "if (pipeline->live_missing)", RUN),
    Mutant("live: followed without being asked", PART, "if (pipeline->live_mode != LIVE_OFF && process)",
           "if (process)", RUN),
    Mutant("live: of a JVM that ended something is kept", "userspace/session/pipeline_books.c",
           "live_objects_forget(&pipeline->live, process->serial);", "", RUN),
    Mutant("live: a stream is told of another process's", PART, "process && process->serial == report->serial", "process", RUN),
    Mutant("live: a stream has no lines of it", PART, "if (entry && pipeline->sinks.one_by_one)", "if (0)", RUN),
    Mutant("live: a stream's last line leaves them out", "userspace/session/pipeline_show.c", "pipeline->ledger.samples + pipeline->live_shown", "pipeline->ledger.samples", RUN),
    Mutant("live: leases are held while a reader is waited for", PIPELINE, "	sinks_ending(&pipeline->sinks);\n", "", RUN),
    Mutant("live: no memory is planned for it", "userspace/session/memory_plan.c", "plan->follows_objects ? MIN(left / 5, LIVE_OBJECTS_MOST_BYTES) : 0", "0", ["test_memory_plan"]),
    Mutant("live: its memory is the others', too", "userspace/session/memory_plan.c", "left -= plan->object_bytes;", ";", ["test_memory_plan"]),
    Mutant("live: the limit is not kept", STORE, "MAX(bytes / LIVE_OBJECTS_EACH_BYTES, 1)", "0", STORED),
]
