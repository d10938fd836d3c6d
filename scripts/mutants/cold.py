# SPDX-License-Identifier: Apache-2.0
"""Files on slow disks: who waits for them, and what they are not blamed for."""
from .mutant import Mutant

COLD = "userspace/unwind/cold_files.c"
FILES = "userspace/unwind/unwind_files.c"
SUPPLY = "userspace/unwind/unwinder_supply.c"
UNWINDER = "userspace/unwind/unwinder.c"
SPACES = "userspace/unwind/unwind_spaces.c"

READER = "userspace/elf/reader/reader.c"

READ = ["test_cold_files"]
NEWS = ["test_unwinder_news"]
ASKED = ["test_reader_cfi"]

MUTANTS = [
    Mutant("cold: it is tried while it is read", FILES, "if (cold_files_is_reading(files->cold, source->image, source->pid))", "if (0)", READ),
    Mutant("cold: nobody reads it", FILES, "		read_first(files, source, &content.id, source->pid);", "		(void)read_first;", READ),
    Mutant("cold: its pages are given up", FILES, "		read_first(files, &file->source, &file->content.id, 0);\n\t\treturn false;", "		(void)read_first;", READ),
    Mutant("cold: its pages are tried while it is read", FILES, "if (file->source.image && cold_files_is_reading(files->cold, file->source.image, 0))", "if (0)", READ),
    Mutant("cold: a reader that was left behind has its handle", FILES, "if (reader_has_gone(r) || r == -EAGAIN)\n\t\tunwind_files_close", "if (reader_has_gone(r))\n\t\tunwind_files_close", READ),
    Mutant("cold: one that is opened again is a bad one", FILES, "r != -EBUSY && r != -EAGAIN", "r != -EBUSY", READ),
    Mutant("cold: only the first process hears of it", COLD, "	note_pid(file, pid);\n\tfiles->told++;", "	files->told++;", READ),
    Mutant("cold: a process hears of it twice", COLD, "if (file->pids.items[i] == pid)", "if (0)", READ),
    Mutant("cold: any number at a time", COLD, "files->all.len >= MAX_FILES || ", "", READ),
    Mutant("cold: what was read stays for ever", COLD, "	remove_file(file->files, file);", "	(void)remove_file;", READ),
    Mutant("cold: who waits for a disk has a strike", READER, "if (result == -ETIMEDOUT && can_wait(ask) && lane_was_at_disk(lane))", "if (0)", ASKED),
    Mutant("cold: the loop waits for any number of disks", READER, "patience_end(&readers.disk, now_ns, USUAL_OPEN_NS);", ";", ASKED),
    Mutant("cold: nobody pauses for disks", READER, "return can_wait(ask) && clock_now_ns() < readers.disk_until_ns;", "return 0;", ASKED),
    Mutant("cold: a walk does not wait for it", UNWINDER, "if (may_wait && unwinder->result.reason == UNWIND_NO_ROWS &&", "if (0 &&", NEWS),
    Mutant("cold: a walk waits for ever", "userspace/session/pipeline_apply.c", "pipeline->options->max_depth, has_patience(pipeline));", "pipeline->options->max_depth, true);", ["test_pipeline_walks"]),
    Mutant("cold: a list that lacks a file is the last word", UNWINDER, "if (unwind_files_delays(unwinder->files) != delays)\n\t\treturn;", "", NEWS),
    Mutant("cold: nobody is told that it is read", COLD, "	files->told++;\n\treturn true;", "	return true;", READ),
    Mutant("cold: readers that are busy have no rows", FILES, "	if (r == -EBUSY)\n\t\treturn false;\n", "", ["test_unwind_files_readers"]),
    Mutant("cold: rows that are to come are put", SUPPLY, "	if (!made)\n\t\treturn false;\n", "", ["test_unwinder_supply"]),
    Mutant("cold: nobody looks again", UNWINDER, "		unwind_spaces_note_warmed(unwinder->spaces, pid);", "		(void)pid;", ["test_unwinder_news"]),
    Mutant("cold: mappings are not read again", SPACES, "	if (space)\n\t\tmake_stale(spaces, space);", "	(void)space;", ["test_unwind_spaces_changes"]),
]
