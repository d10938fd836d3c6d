# SPDX-License-Identifier: Apache-2.0
"""Of files that we write: whose they are, what leads them elsewhere, what a kill leaves."""
from .mutant import Mutant

PLACE = "userspace/base/out/out_place.c"
OWNER = "userspace/base/out/out_owner.c"
FILE = "userspace/base/out/outfile.c"
NAME = "userspace/cmd/free_name.c"
OUTPUT = "userspace/cmd/record_output.c"
RECORD = "userspace/cmd/cmd_record.c"
WRITE = "userspace/recording/write.c"

LED = ["test_out_place"]
WRITTEN = ["test_outfile"]
RECORDED = ["test_cmd_record"]
ROOM = ["test_recording_room"]

MUTANTS = [
    Mutant("anybody's link is followed", PLACE, "if (!out_owner_is_trusted(link->st_uid)) {", "if (0) {", LED),
    Mutant("the user of sudo's link is not followed", OWNER, "&& uid == sudo_uid;", "&& 0;", LED),
    Mutant("anybody's file is written", PLACE, "out_owner_is_trusted(there->st_uid))\n\t\treturn 0;",
           "1)\n\t\treturn 0;", LED),
    Mutant("who owns the directory owns what all may put there", PLACE, " &&\n\t    !(dir.st_mode & S_IWOTH))", ")", LED),
    Mutant("a new file may be an old link", PLACE, "if (is_end && walk->wants_new)", "if (0)", LED + RECORDED),
    Mutant("an open descriptor is its text", PLACE, "if (!is_kernels_link(fd))", "if (1)", LED),
    Mutant("outputs for all to read", PLACE, "#define NEW_MODE   0600", "#define NEW_MODE   0644", WRITTEN),
    Mutant("outputs under sudo are root's", OWNER, "return fchown(fd, uid, gid) < 0 ? -errno : 0;", "return 0;", WRITTEN),
    Mutant("no id is one", OWNER, "id >= UINT32_MAX)", "0)", WRITTEN),
    Mutant("root's file becomes the user's", FILE, "(void)!fchown(fd, old->st_uid, old->st_gid);", "", WRITTEN),
    Mutant("other names of a file are emptied", FILE, "if (out->place.there.st_nlink > 1) {", "if (0) {", LED),
    Mutant("a name of our own replaces what came meanwhile", FILE, "out->stays_new ? RENAME_NOREPLACE : 0", "0", LED),
    Mutant("a file is not brought to the disk", FILE, "\tr = sync_file(fd);\n", "\tr = 0;\n", WRITTEN),
    Mutant("a name is not brought to the disk", FILE, "\tr = sync_directory(&out->place);\n", "\tr = 0;\n", WRITTEN),
    Mutant("a full disk is seen too late", FILE, "return -errno;\n}\n\n/* A name that was made",
           "return 0;\n}\n\n/* A name that was made", WRITTEN),
    Mutant("a recording that goes on was killed", NAME, "&& flock(fd, LOCK_EX | LOCK_NB) == 0;", ";", RECORDED),
    Mutant("what a kill left is written over", OUTPUT, "int r = outfile_create(path, &output->file, err);\n\n\tif (r == -EEXIST",
           "int r = outfile_open_in_place(path, &output->file, err);\n\n\tif (r == -EEXIST", RECORDED),
    Mutant("a recording stays beside its view", OUTPUT, "return !output->direct || (", "return (", RECORDED),
    Mutant("a recording is gone when its view fails", OUTPUT, "if (r < 0 && r != -EPIPE)", "if (0)", RECORDED),
    Mutant("a reader that leaves leaves a recording behind", OUTPUT, "if (r < 0 && r != -EPIPE)", "if (r < 0)", RECORDED),
    Mutant("a broken pipe is an error of ours", RECORD, "\t\traise(SIGPIPE);\n", "", RECORDED),
    Mutant("nobody is told of what a kill left", RECORD, "\ttell_leftover(run);\n", "", RECORDED),
    Mutant("a full disk ends the recording", WRITE, "return code == -ENOSPC || code == -EDQUOT;", "return false;", ROOM),
    Mutant("any error may pass", WRITE, "return code == -ENOSPC || code == -EDQUOT;", "return true;", ["test_recording"]),
    Mutant("what waits for room has no limit", WRITE, "if (writer->buf.len >= HELD_LIMIT_BYTES)", "if (0)", ROOM),
    Mutant("what is dropped is not counted", WRITE, "writer->shortage.dropped += p->samples.items[i].count;", ";", ROOM),
    Mutant("what is dropped with a chunk is not counted", WRITE, "writer->shortage.dropped += writer->buf_samples;", ";", ROOM),
    Mutant("a chunk ends without what waits", WRITE, "if (writer->short_ns && writer->end_ns - writer->short_ns < HELD_LIMIT_NS)",
           "if (0)", ROOM),
    Mutant("nothing ends while something waits", WRITE, "writer->end_ns - writer->short_ns < HELD_LIMIT_NS)", "1)", ROOM),
    Mutant("a torn end stays", WRITE, "if (ftruncate(writer->fd, writer->end) < 0) {", "if (0) {", ROOM),
    Mutant("the end does not wait for room", WRITE, "i < LAST_TRIES && ", "i < 0 && ", ROOM),
    Mutant("the recording does not say what it lacks", WRITE, "if (ending == ENDS_RECORDING && writer->shortage.dropped)",
           "if (0)", ROOM),
    Mutant("no memory is kept back", "userspace/base/alloc.c", "if (!p_ && use_reserve())", "if (0)",
           ["test_alloc_reserve"]),
    Mutant("nobody knows that memory is short", "userspace/base/alloc.c",
           "__atomic_store_n(&reserve.is_used, true, __ATOMIC_RELEASE);", "", ["test_alloc_reserve"]),
    Mutant("a run goes on without memory", "userspace/session/recorder.c", "if (alloc_is_short())\n\t\tloop_quit(rec->loop);", "",
           ["test_recorder_loop"]),
    Mutant("a run that memory ended is whole", "userspace/session/recorder.c", "if (r == 0 && alloc_is_short())", "if (0)",
           ["test_recorder_loop"]),
    Mutant("SIGQUIT ends it without a flush", "userspace/cmd/drive/drive.c", "SIGHUP, SIGQUIT, SIGCHLD", "SIGHUP, SIGCHLD",
           ["test_drive", "test_drive_loop"]),
    Mutant("a limit of files ends it without a flush", "userspace/cmd/drive/drive.c",
           "drive->old_sigxfsz = signal(SIGXFSZ, SIG_IGN);", "", ["test_drive"]),
    Mutant("it ends with the first of its processes", "userspace/cmd/drive/drive.c", "if (!targets_look(&drive->targets))", "if (targets_look(&drive->targets) != SIZE_MAX)", ["test_drive"]),
    Mutant("it does not end with its processes", "userspace/cmd/drive/drive.c", "if (!targets_look(&drive->targets))", "if (0)", ["test_drive"]),
    Mutant("processes that have gone go on", "userspace/cmd/drive/drive.c", "if (r == 0 && !drive->targets.left)", "if (0)", ["test_drive"]),
    Mutant("what cannot be watched has ended", "userspace/cmd/drive/targets.c", "targets->left -= errno == ESRCH;", "targets->left--;", ["test_drive"]),
    Mutant("two write one file", "userspace/base/out/outfile.c", "if (flock(out->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK || out->is_new)", "if (1)", ["test_outfile"]),
    Mutant("SIGXFSZ stays ignored", "userspace/cmd/drive/drive.c", "signal(SIGXFSZ, drive.old_sigxfsz);", "", ["test_drive"]),
]
