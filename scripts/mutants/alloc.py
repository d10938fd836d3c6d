# SPDX-License-Identifier: Apache-2.0
"""Of allocations: whose memory an agent may take, where it is probed, what a sample weighs, and its class."""
from .mutant import Mutant

ROOM = "userspace/process/memory_room.c"
PLACES = "userspace/capture/probes/capture_places.c"
WEIGHT = "userspace/session/alloc/alloc_weight.c"
CLASSES = "userspace/jvm/java_name.c"
OBJECTS = "userspace/session/alloc/alloc_objects.c"
AGENT_ALLOC = "jvmagent/alloc.c"
LEAF = "userspace/symbolize/allocation.c"

FULL = ["test_memory_room"]
PROBED = ["test_capture_places"]
WEIGHED = ["test_alloc_weight"]
COUNTED = ["test_alloc_objects"]
DRAWN = ["test_agent_alloc"]
NAMED = ["test_java_name"]
STACKS = ["test_symbolize_code"]

MUTANTS = [
    Mutant("room: a cgroup above has no limit", ROOM, "if (!slash)\n\t\t\treturn room;", "if (slash || !slash)\n\t\t\treturn room;", FULL),
    Mutant("room: what is over the limit is room", ROOM, "limit > usage ? limit - usage : 0", "limit - usage", FULL),
    Mutant("room: cached files are used memory", ROOM, "usage -= MIN(usage, cached);", "(void)cached;", FULL),
    Mutant("room: more is cached than used", ROOM, "usage -= MIN(usage, cached);", "usage -= cached;", FULL),
    Mutant("room: v1 has no limits", ROOM, "room = MIN(room, room_of_tree(mount, &legacy, line));", "room = room + 0;", FULL),
    Mutant("room: v2 has no limits", ROOM, "room = MIN(room, room_of_tree(mount, &unified, v2));", "room = room + 0;", FULL),
    Mutant("room: any controller's path is memory's", ROOM, "text_take_prefix(&name, \"memory\") && name.at", "name.at", FULL),
    Mutant("room: memoryless is memory", ROOM, "(*name.at == ',' || *name.at == ':')", "*name.at", FULL),
    Mutant("room: only the first controller is looked at", ROOM, "if (line->at == line->end || *line->at == ':')", "if (1)", FULL),
    Mutant("room: paths lead out of the mount", ROOM, "!memmem(path.at, (size_t)(path.end - path.at), \"/..\", 3)", "1", FULL),
    Mutant("places: probed twice", PLACES, "return is_there(c, probe);", "return 0;", PROBED),
    Mutant("places: a pid's next process is probed", PLACES, "known->generation == probe->generation &&", "", PROBED),
    Mutant("places: probes of any event", PLACES, "if (capture_event_needs(&c->events[i], trigger))", "if (1)", PROBED),
    Mutant("places: one exit closes all of a pid", PLACES, "probe.pid == pid && probe.generation == generation", "probe.pid == pid", PROBED),
    Mutant("places: an exit closes nothing", PLACES, "c->places.len = kept;", "", PROBED),
    Mutant("weights: an object weighs its size", WEIGHT, "interval ? s / -expm1(-s / r) + 0.5 : s", "s", WEIGHED),
    Mutant("weights: an object weighs the interval", WEIGHT, "interval ? s / -expm1(-s / r) + 0.5 : s", "interval ? r : s", WEIGHED),
    Mutant("weights: what is left of an object is lost", WEIGHT, "*carried = objects - whole;", "", WEIGHED),
    Mutant("weights: the rest is never added", WEIGHT, " + *carried;", ";", WEIGHED),
    Mutant("classes: an array is its element", CLASSES, "while (dimensions--)\n\t\tstrbuf_addstr(out, \"[]\");", "", NAMED),
    Mutant("classes: a type without brackets is an array's", CLASSES, "dimensions && rest == 1 &&", "rest == 1 &&", NAMED),
    Mutant("classes: an empty name is one", CLASSES, "rest >= 3 && type[0]", "rest >= 2 && type[0]", NAMED),
    Mutant("classes: a Symbol is never an array's", CLASSES, "if (len && symbol[0] == '[')", "if (!len)", NAMED),
    Mutant("leaf: outside a TLAB is inside", LEAF, "sample->flags & WIRE_SAMPLE_OUTSIDE_TLAB ? FRAME_CLASS_OUTSIDE : FRAME_CLASS",
           "FRAME_CLASS", STACKS),
    Mutant("leaf: a class that is not known yet is kept", LEAF, "if (!name)\n\t\tbuild->cacheable = false;", "", STACKS),
    Mutant("leaf: the JVM's frames stay", LEAF, "if (at == len || symbolizer->jvm_frames)", "if (1)", STACKS),
    Mutant("leaf: the JVM's frames go though asked for", LEAF, "if (at == len || symbolizer->jvm_frames)", "if (at == len)", STACKS),
    Mutant("leaf: a stack without Java has no frames", LEAF, "if (at == len || symbolizer->jvm_frames)", "if (symbolizer->jvm_frames)", STACKS),
    Mutant("leaf: a mark is the JVM's", LEAF, "case FRAME_MARK: return true;", "case FRAME_MARK:", STACKS),
    Mutant("objects: always rounded down", OBJECTS, "(double)(hash_bytes(key, sizeof(key)) >> CHANCE_SHIFT) / CHANCE_WHOLE", "0", COUNTED),
    Mutant("objects: threads have one chance", OBJECTS, "{ sample->time_ns, sample->tid }", "{ sample->time_ns, 0 }", COUNTED),
    Mutant("objects: a thread has one chance", OBJECTS, "{ sample->time_ns, sample->tid }", "{ 0, sample->tid }", COUNTED),
    Mutant("objects: a line of a stream has none", "userspace/session/pipeline_show.c", "\t\t.objects = alloc_objects(sample),\n", "", ["test_pipeline_live"]),
    Mutant("draws: a thread's end leaves its draw to the next", AGENT_ALLOC, "__atomic_store_n(draw, 0, __ATOMIC_RELAXED);", ";", DRAWN),
    Mutant("draws: a thread's end takes another's", AGENT_ALLOC, "if (__atomic_load_n(draw, __ATOMIC_RELAXED) >> 32 == key)", "if (1)", DRAWN),
    Mutant("draws: one for all threads", AGENT_ALLOC, "was >> 32 == key ? (uint32_t)was : drawn_now", "(uint32_t)was", DRAWN),
    Mutant("pace: the clock is never looked at below the budget", AGENT_ALLOC, " || hits % ALLOC_PER_LOOK == 0", "", DRAWN),
    Mutant("own: a child has the agent", "jvmagent/agent.c", "madvise(page, sizeof(*a->own), MADV_WIPEONFORK)", "0", ["test_agent_own"]),
    Mutant("own: an attach in a child finds its page wiped", "jvmagent/agent.c", "	__atomic_store_n(a->own, 1, __ATOMIC_RELAXED);\n", "", ["test_agent_own"]),
]
