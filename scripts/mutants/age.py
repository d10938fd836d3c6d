# SPDX-License-Identifier: Apache-2.0
"""What stays when processes and files have gone: nothing grows with the age of a run."""
from .mutant import Mutant

DROP = "userspace/elf/image_drop.c"
INDEX = "userspace/elf/image_index.c"
ROOM = "userspace/unwind/unwind_files_room.c"
FILES = "userspace/unwind/unwind_files.c"
SUPPLY = "userspace/unwind/unwinder_supply.c"
UNWINDER = "userspace/unwind/unwinder.c"
SYMBOLIZER = "userspace/symbolize/symbolizer.c"

IMAGES = ["test_image_room"]
ROWS = ["test_unwind_files_open"]

MUTANTS = [
    Mutant("age: images stay for ever", "userspace/elf/image.c", "	image_cache_evict(cache);\n", "", IMAGES),
    Mutant("age: an image goes that somebody has", DROP, "if ((*at)->refs)", "if (0)", IMAGES),
    Mutant("age: images that somebody has take the others' room", DROP, "if ((*at)->refs)\n\t\t\tcontinue;", "if ((*at)->refs) {\n\t\t\tbytes += image_bytes(*at);\n\t\t\tcontinue;\n\t\t}", IMAGES),
    Mutant("age: the newest images go first", DROP, "return x->asked < y->asked ? -1 : x->asked > y->asked;",
           "return x->asked > y->asked ? -1 : x->asked < y->asked;", IMAGES),
    Mutant("age: who asked does not count", "userspace/elf/image.c", "	image->asked = ++cache->asks;\n	return image;", "	return image;", IMAGES),
    Mutant("age: what was read waits to be read", DROP, "if (image->state == IMAGE_NEW)\n\t\t\tcache->waiting.items[kept++] = image;",
           "if (1)\n\t\t\tcache->waiting.items[kept++] = image;", IMAGES),
    Mutant("age: a name of a file takes the others along", INDEX, "hmap_put_ptr(&index->by_key, hash, image->twin);", "hmap_remove(&index->by_key, hash);", IMAGES),
    Mutant("age: an image takes those of its file along", INDEX, "hmap_put_ptr(&index->by_id, hash, image->like);", "hmap_remove(&index->by_id, hash);", IMAGES),
    Mutant("age: failures of files are forgotten", DROP, "cache->evicted_failed +=", "cache->evicted_failed -=", IMAGES),
    Mutant("age: bytes in memory go", "userspace/elf/image.c", "image_ref(image); /* there is", "(void)(image); /* there is", ["test_image_memory"]),
    Mutant("age: files that rows are made from stay for ever", UNWINDER, "	evict_files(unwinder);\n", "", ["test_unwinder_news"]),
    Mutant("age: a list of files that are gone stays", UNWINDER, "	if (unwind_files_evict(unwinder->files))\n", "	if (!unwind_files_evict(unwinder->files))\n",
           ["test_unwinder_news"]),
    Mutant("age: who is published goes", ROOM, "file->seen = files->evictions + 1;", ";", ROWS),
    Mutant("age: who was published once stays", ROOM, "file->seen = files->evictions + 1;", "file->seen = UINT64_MAX;", ROWS),
    Mutant("age: files of rows go in any order", ROOM, "return x->seen < y->seen ? -1 : 1;", "return x->seen > y->seen ? -1 : 1;", ROWS),
    Mutant("age: a number is given again", FILES, "file->number = ++files->last_number;", "file->number = (uint32_t)files->files.len;", ROWS),
    Mutant("age: images of files that are gone stay", FILES, "	image_unref(file->source.image);\n	free(file);", "	free(file);", ROWS),
    Mutant("age: pages that failed are forgotten", ROOM, "files->gone_pages += file->failed_pages;", ";", ROWS),
    Mutant("age: rows of a file that is forgotten", SUPPLY, "return unwind_files_has(unwinder->files, c->range.file)", "return true", ["test_unwinder_supply"]),
    Mutant("age: a list is read again and again", SUPPLY, "if (!job->live || job->read ||", "if (!job->live ||", ["test_unwinder_supply"]),
    Mutant("age: names keep the files that a process has no more", SYMBOLIZER, "while (cache->images.len > process->mappings.len)", "while (0)",
           ["test_symbolize_parts"]),
    Mutant("age: names keep the files of who is gone", SYMBOLIZER, "image_unwant((struct image *)(uintptr_t)value);", "(void)value;", ["test_symbolize_parts"]),
    Mutant("age: a process may map all files that there are", DROP, "if (budget_fits(&cache->budget, own_bytes, bytes_at(path)))", "if (1)", IMAGES),
    Mutant("age: what is forgotten is owed for ever", DROP, "	pay_back(cache, image);\n", "", IMAGES),
    Mutant("age: who mapped a file first does not pay", "userspace/elf/image.c", "	image_cache_pay(cache, image, mapping->pid);\n", "", IMAGES),
    Mutant("age: symbols that somebody will ask for go with the others", DROP, "(image->wants > 0) != wanted", "(wanted && !image->wants)", ["test_image_cache"]),
    Mutant("age: names do not want symbols", "userspace/elf/image_drop.c", "	image->wants++;\n", "", ["test_image_cache"]),
    Mutant("age: all symbols go at once", "userspace/session/pipeline.c", "image_cache_shrink(pipeline->images, false);", "image_cache_shrink(pipeline->images, true);",
           ["test_pipeline_calls"]),
    Mutant("age: tables of a chunk have no limit", "userspace/recording/write.c", "writer->table_bytes >= CHUNK_TABLE_BYTES ||", "", ["test_recording_times"]),
    Mutant("age: holes stay", "userspace/session/memory_plan.c", "resident <= guard->tidy_bytes + guard->limit_bytes / 32", "true", ["test_memory_guard"]),
    Mutant("age: each look for holes pays for all", "userspace/session/memory_plan.c", "	guard->tidy_bytes = resident_bytes();\n", "", ["test_memory_guard"]),
    Mutant("age: no symbols stay where there is no room", DROP, "cache->content_limit / WANTED_SHARE", "0", ["test_image_cache"]),
]
