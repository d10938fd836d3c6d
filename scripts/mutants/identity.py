# SPDX-License-Identifier: Apache-2.0
"""Of whose word counts for whom: files, memory and names of one process are nobody else's."""
from .mutant import Mutant

ID = "userspace/wall/file_id.c"
INDEX = "userspace/elf/image_index.c"
IMAGE = "userspace/elf/image.c"
FILES = "userspace/unwind/unwind_files.c"
CONTENT = "userspace/unwind/unwind_content.c"
DEBUG = "userspace/elf/debug/debug_file.c"
CFI = "userspace/elf/cfi_digest.c"
TABLES = "userspace/jvm/layout/vmtables.c"
STRUCTS = "userspace/jvm/layout/vmstructs.c"

IMAGES = ["test_image_identity", "test_image_cache"]
ROWS = ["test_unwind_files_calls", "test_unwind_files_open"]

IDENTITY = [
    Mutant("identity: rows of what was written anew are those of its copies", FILES, "file->content.digested = is_as_it_was(file);",
           "file->content.digested = true;", ROWS),
    Mutant("identity: a process has all its files looked at", INDEX, "if (pid && looks >= IMAGE_MAX_LOOKS)", "if (0)", ["test_image_limits"]),
    Mutant("identity: one process's looks are everybody's", INDEX, "hmap_get(&index->looked_at, pid, &looks);",
           "hmap_get(&index->looked_at, 1, &looks);", ["test_image_limits"]),
    Mutant("identity: a file that is written anew is the same", ID,
           "return file_id_same_file(a, b) && a->changed_ns == b->changed_ns;", "return file_id_same_file(a, b);",
           IMAGES),
    Mutant("identity: a file has one name", INDEX,
           "while (image && !(file_id_equal(&image->id, id) && has_path(image, path)))",
           "while (image && !file_id_equal(&image->id, id))", IMAGES),
    Mutant("identity: who cannot be found is whoever has the number", INDEX, "(image->certain || image->never_opened ||",
           "(true || image->never_opened ||", IMAGES),
    Mutant("identity: who was mapped since is what it was seen to be", INDEX, "image->seen >= image->mapped\n", "true\n", IMAGES),
    Mutant("identity: what is remembered holds for what was mapped since", INDEX, "known->image->seen >= known->mapped &&", "true &&", IMAGES),
    Mutant("identity: a number without generation is known by itself", INDEX, "return image && key->generation && ", "return image && ",
           IMAGES),
    Mutant("identity: another generation is the same file", INDEX, "if (!image || !may_have_key(image, &mapping->key))", "if (!image)",
           IMAGES),
    Mutant("identity: a generation is not learnt", INDEX, "image->key.generation = mapping->key.generation;", ";", IMAGES),
    Mutant("identity: subvolumes are one file", INDEX, "&& file_id_has_key(&image->id, key);", "&& image->id.inode == key->inode;", IMAGES),
    Mutant("identity: nobody looks at what is due", INDEX, "vec_push(&index->due, image_ref(image));", ";", IMAGES),
    Mutant("identity: a number that was seen need not be the mapping's", IMAGE, "seen->inode != mapping->key.inode)", "false)", IMAGES),
    Mutant("identity: what is due waits for ever", "userspace/session/pipeline.c", "image_cache_look(pipeline->images);", ";",
           ["test_pipeline_calls"]),
    Mutant("identity: walks look for what was told", "userspace/unwind/unwind_ranges.c", "add(reading, m, map->file);", "add(reading, m, NULL);",
           ["test_unwind_ranges_calls"]),
    Mutant("identity: copies of two users share rows", CONTENT, "a->id.owner == b->id.owner && ", "", ROWS),
    Mutant("identity: copies that others write share rows", CONTENT, "!a->id.shared &&\n\t       !b->id.shared", "true",
           ROWS),
    Mutant("identity: copies need not say the same", FILES, "return unwind_content_same_digest(&file->content, content) ? file : NULL;",
           "return file;", ROWS),
    Mutant("identity: a file that is another now is read on", CONTENT, "return same ? 0 : err_set(err, -EBADMSG, \"another file has its name now\");",
           "return 0;", ROWS),
    Mutant("identity: debug files of anybody", DEBUG, "if (!for_all)\n\t\treturn true;", "return true;", ["test_image"]),
    Mutant("identity: debug files that others write", DEBUG,
           "(id.owner == for_all->owner && (!id.shared || for_all->shared))", "(id.owner == for_all->owner)",
           ["test_image"]),
    Mutant("identity: a digest without the records", CFI,
           "digest_bytes(digest, section->reader, section->offset, section->size);", ";", ["test_cfi_open"]),
    Mutant("identity: one JVM's tables are another's", STRUCTS,
           "return vmtables_equal(build->tables, tables, false) ? build : NULL;", "return build;", ["test_vmstructs"]),
    Mutant("identity: symbols of another library", STRUCTS, "if (!file_id_equal(&build->file, &lib->id)) {", "if (0) {",
           ["test_vmstructs"]),
    Mutant("identity: names of tables are not compared", TABLES,
           "if (a->types.items[i].size != b->types.items[i].size ||\n\t\t    strcmp(a->types.items[i].name, "
           "b->types.items[i].name) != 0)", "if (a->types.items[i].size != b->types.items[i].size)",
           ["test_vmstructs"]),
]

MUTANTS = IDENTITY
