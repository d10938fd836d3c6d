# SPDX-License-Identifier: Apache-2.0
"""Of processes: who is who at which time, and what they map."""
from .mutant import Mutant

REGISTRY = "userspace/process/registry.c"
BOOK = "userspace/process/book.c"
MAPPINGS = "userspace/process/mappings.c"
MAPS = "userspace/process/exec_maps.c"
PROC = "userspace/process/proc.c"
CONTAINER = "userspace/process/container.c"

WHO = ["test_registry", "test_registry_proc"]
WHERE = ["test_mappings"]

GENERATIONS = [
    Mutant("registry: mappings that came late are never read", REGISTRY, "(entry->retry_ns && time_ns >= entry->retry_ns)", "(0 && entry->retry_ns)", ["test_registry_proc"]),
    Mutant("registry: they are read with each sample", REGISTRY, "time_ns + RETRY_NS : 0;", "time_ns : 0;", ["test_registry_proc"]),
    Mutant("registry: those that will never come are", REGISTRY, "r == -ETIMEDOUT || r == -EBUSY || r == -ECHILD ?", "r < 0 ?", ["test_registry_proc"]),
    Mutant("an exec is the same generation", REGISTRY,
           "process->exec_count++;\n\tprocess->serial = registry->next_serial++;", "process->exec_count++;", WHO),
    Mutant("an exec is not counted", REGISTRY, "process->exec_count++;", "", WHO),
    Mutant("an exec keeps the mappings", REGISTRY,
           'set_text(&process->exe, ""); /* the first file mapped, see registry_mmap() */\n\tmappings_clear(process);',
           'set_text(&process->exe, "");', WHO),
    Mutant("an exec keeps the name", REGISTRY, "entry->detailed = false;\n\tset_comm(process, comm);",
           "entry->detailed = false;", WHO),
    Mutant("an exec keeps the executable's name", REGISTRY, 'set_text(&process->exe, ""); /* the first', '/* the first',
           WHO),
    Mutant("every exec began at the fork", REGISTRY, "process->begin_ns = time_ns;\n\tprocess->exited",
           "process->exited", WHO),
    Mutant("an exec of a process that is thought dead", REGISTRY, "process->exited = false;\n\tentry->detailed",
           "entry->detailed", WHO),
    Mutant("a child has no mappings", REGISTRY, "mappings_copy(&child->process, parent);", "", WHO),
    Mutant("a child has no name", REGISTRY, "memcpy(child->process.comm, parent->comm, sizeof(parent->comm));", "",
           WHO),
    Mutant("a child's container forgotten", REGISTRY,
           "memcpy(child->process.container_id, parent->container_id, sizeof(parent->container_id));", "", WHO),
    Mutant("a child is its parent's generation", REGISTRY, "entry->process.serial = registry->next_serial++;",
           "entry->process.serial = registry->next_serial;", WHO),
    Mutant("a thread's name is its process's", REGISTRY, "if (entry && pid == tid)", "if (entry)", WHO),
    Mutant("a reused pid keeps the dead process's name", REGISTRY,
           "if (stat.start_ns > entry->exit_ns)", "if (0)", WHO),
    Mutant("a process whose first thread ended is another", REGISTRY,
           "if (stat.start_ns > entry->exit_ns)", "if (1)", WHO),
    Mutant("a live process stays dead", REGISTRY, "\tentry->process.exited = false;\n\treturn entry;",
           "\treturn entry;", WHO),
    Mutant("the living are forgotten", REGISTRY, "if (!entry || !entry->process.exited)\n\t\t\tcontinue;",
           "if (!entry)\n\t\t\tcontinue;", WHO),
    Mutant("the dead are never forgotten", REGISTRY, "vec_push(&registry->exited, entry->process.pid);", "", WHO),
    Mutant("the dead are forgotten at once", REGISTRY, "if (entry->exit_ns >= time_ns) {", "if (0) {", WHO),
    Mutant("who is not forgotten yet never is", REGISTRY, "registry->exited.len = kept;", "registry->exited.len = 0;", WHO),
    Mutant("a second exit record moves the first", REGISTRY, "if (entry && !entry->process.exited)\n\t\tset_exited", "if (entry)\n\t\tset_exited", WHO),
    Mutant("an exit that nobody tells is none", REGISTRY, " || time_ns - registry->looked_ns >= LOOK_AT_ALL_NS", "", WHO),
    Mutant("all are looked at each time", REGISTRY, "if (registry->lost || time_ns - registry->looked_ns >= LOOK_AT_ALL_NS)", "", WHO),
    Mutant("what is whole is read twice", "userspace/base/file.c", "if (at_once && (size_t)n < room)", "if (0)", ["test_file"]),
    Mutant("half of it is the whole", "userspace/base/file.c", "if (at_once && (size_t)n < room)", "if (at_once)", ["test_file"]),
    Mutant("lost mappings are not looked for", REGISTRY, "registry->losses += registry->lost;", "", WHO),
    Mutant("who is gone is not noticed", REGISTRY, "if (pid != 0 && !proc_is_there((uint32_t)pid))", "if (0)", WHO),
    Mutant("details of the next program for the last one", REGISTRY,
           "if (!entry->detailed && !entry->process.exited && entry->process.begin_ns == 0)",
           "if (!entry->detailed)", WHO),
]

ATTACHED = [
    Mutant("what is attached is any book's", "userspace/process/book.h",
           "while (attachment && attachment->book != book)", "while (0)", ["test_book"]),
    Mutant("what was detached stays", BOOK, "*link = attachment->next;", "", ["test_book"]),
    Mutant("what was attached before is lost", BOOK, "attachment->next = to->first;", "", ["test_book"]),
    Mutant("the last of a book does not know its place", BOOK, "last->at = attachment->at;", "", ["test_book"]),
]

MEMORY = [
    Mutant("the end of a mapping is its", MAPPINGS, "if (process->mappings.items[middle].end <= address)",
           "if (process->mappings.items[middle].end < address)", WHERE),
    Mutant("addresses below a mapping are its", MAPPINGS,
           "if (i < process->mappings.len && process->mappings.items[i].start <= address)",
           "if (i < process->mappings.len)", WHERE),
    Mutant("a cut mapping keeps its file offset", MAPPINGS, "m->pgoff += address - m->start;", "", WHERE),
    Mutant("the rest behind a hole is lost", MAPPINGS, "vec_insert(&process->mappings, at + 1, tail);", "", WHERE),
    Mutant("an older mapping stays below a new one", MAPPINGS, "m->end = start;\n\t\tat++;", "at++;", WHERE),
    Mutant("covered mappings stay", MAPPINGS, "if (covered > 1)\n\t\tvec_remove", "if (0)\n\t\tvec_remove", WHERE),
    Mutant("a covered mapping stays behind what covers it", MAPPINGS, "*ret_free = covered > 0;", "*ret_free = false;", WHERE),
    Mutant("what is gone stays when its left neighbour grows", MAPPINGS, "if (has_place)\n\t\t\tvec_remove(&process->mappings, at, 1);", "", WHERE),
    Mutant("pieces of two files become one", MAPPINGS, "if (at == 0 || !is_anonymous(m))", "if (at == 0)", WHERE),
    Mutant("neighbours with a gap become one", MAPPINGS, "if (left->end != m->start || !is_anonymous(left))",
           "if (!is_anonymous(left))", WHERE),
    Mutant("a change of mappings is not counted", MAPPINGS, "process->mappings_serial++;\n\tat = punch_hole",
           "at = punch_hole", WHERE),
    Mutant("anonymous memory has a name", MAPPINGS, 'strcmp(m->path, "//anon") != 0', "1", WHERE),
    Mutant("data taken for code", MAPS, "if (line.perms[2] == 'x' &&", "if (", ["test_exec_maps"]),
    Mutant("the vsyscall page in every process", MAPS, " && line.start < KERNEL_HALF)", ")", ["test_exec_maps"]),
    Mutant("queried mappings without their file offset", MAPS, ".pgoff = mapping->file_offset,", "", ["test_exec_maps"]),
]

TEXT = [
    Mutant("inode in hexadecimal", PROC, "text_take_number(&cursor, 10, &line.key.inode)",
           "text_take_number(&cursor, 16, &line.key.inode)", ["test_proc"]),
    Mutant("another field for the start time", PROC, "!skip_fields(&cursor, 18)", "!skip_fields(&cursor, 17)",
           ["test_proc"]),
    Mutant("a name ends at its first parenthesis", PROC, "memrchr(text, ')', len)", "memchr(text, ')', len)",
           ["test_proc"]),
    Mutant("the host's pid for the namespace's", PROC, "last_number(line, &value)", "nth_number(line, 0, 10, &value)",
           ["test_proc"]),
    Mutant("the real user for the effective one", PROC, "nth_number(line, 1, 10, &value)) /* real",
           "nth_number(line, 0, 10, &value)) /* real", ["test_proc"]),
    Mutant("the cgroup of an old hierarchy", PROC, "else if (!path.at)\n\t\t\tcgroup_line_path", "else\n\t\t\tcgroup_line_path",
           ["test_proc"]),
    Mutant("the outer container", CONTAINER, "const char *slash = memrchr(cgroup_path, '/', (size_t)(end - cgroup_path));",
           "const char *slash = memchr(cgroup_path, '/', (size_t)(end - cgroup_path));", ["test_container"]),
    Mutant("a container's helper is in it", CONTAINER, 'if (has_suffix(segment, (size_t)(id - segment), "conmon-"))',
           "if (0)", ["test_container"]),
]

MUTANTS = GENERATIONS + ATTACHED + MEMORY + TEXT
