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

STABLE = "userspace/recording/write_stable.c"
SYMBOLS = "userspace/elf/symbols.c"
SCRATCH = "userspace/base/cache/thread_scratch.c"

IMAGES = ["test_image_room"]
KEYS = ["test_write_stable"]
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
    Mutant("age: a list of files that are gone stays", UNWINDER, "	unwinder->late_serial = 0;\n	row_store_drop_others", "	row_store_drop_others",
           ["test_unwinder_news"]),
    Mutant("age: who is published goes", ROOM, "file->seen = files->evictions + 1;", ";", ROWS),
    Mutant("age: who was published once stays", ROOM, "file->seen = files->evictions + 1;", "file->seen = UINT64_MAX;", ROWS),
    Mutant("age: files of rows go in any order", ROOM, "return x->seen < y->seen ? -1 : 1;", "return x->seen > y->seen ? -1 : 1;", ROWS),
    Mutant("age: a number is given again", FILES, "file->number = ++files->last_number;", "file->number = (uint32_t)files->files.len;", ROWS),
    Mutant("age: its process is asked for each file", "userspace/unwind/unwind_source.c", "if (source->lived_ns && now_ns - source->lived_ns < LIVES_NS)", "if (0)", ["test_unwind_files_open"]),
    Mutant("age: who lived once lives", "userspace/unwind/unwind_source.c", "source->lived_ns && now_ns - source->lived_ns < LIVES_NS", "source->lived_ns", ["test_unwind_files_open"]),
    Mutant("age: images of files that are gone stay", FILES, "	image_unref(file->source.image);\n	free(file);", "	free(file);", ROWS),
    Mutant("age: pages that failed are forgotten", ROOM, "files->gone_pages += file->failed_pages;", ";", ROWS),
    Mutant("age: rows of a file that is forgotten", SUPPLY, "return unwind_files_has(unwinder->files, c->range.file)", "return true", ["test_unwinder_supply"]),
    Mutant("age: a list is read again and again", SUPPLY, "if (!job->live || job->read ||", "if (!job->live ||", ["test_unwinder_supply"]),
    Mutant("age: names keep the files that a process has no more", "userspace/symbolize/process_files.c", "while (cache->images.len > process->mappings.len)", "while (0)",
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
    Mutant("age: holes stay", "userspace/session/memory_plan.c", "resident <= guard->tidy_bytes + step", "true", ["test_memory_guard"]),
    Mutant("age: what became free stays", "userspace/session/memory_plan.c", "holes <= guard->hole_bytes + step", "true", ["test_memory_guard"]),
    Mutant("age: what is free is given back again and again", "userspace/session/memory_plan.c", "	guard->hole_bytes = mallinfo2().fordblks;\n", "", ["test_memory_guard"]),
    Mutant("age: what was used between is not looked at", "userspace/session/memory_plan.c", "guard->hole_bytes = MIN(guard->hole_bytes, holes);", "", ["test_memory_guard"]),
    Mutant("age: each look for holes pays for all", "userspace/session/memory_plan.c", "	guard->tidy_bytes = resident_bytes(guard);\n", "", ["test_memory_guard"]),
    Mutant("share: what is mapped is not counted", "userspace/session/memory_plan.c", "map_bytes + mapped_bytes + MIN(", "map_bytes + 0 * mapped_bytes + MIN(", ["test_memory_plan", "test_pipeline_calls"]),
    Mutant("share: rings are mapped once", "userspace/capture/rings/rings.c", "bytes += 2ULL * rings->ring_bytes;", "bytes += rings->ring_bytes;", ["test_rings"]),
    Mutant("share: tables are not mapped", "userspace/capture/capture_books.c", "capture_tables_bytes(c) + rings_mapped", "rings_mapped", ["test_capture"]),
    Mutant("scratch: another one each time", SCRATCH, "	if (memory)\n		return memory;\n", "", ["test_thread_scratch"]),
    Mutant("scratch: all places have one", SCRATCH, "pthread_getspecific(key)", "pthread_getspecific(0 * key)", ["test_thread_scratch"]),
    Mutant("scratch: as it comes", SCRATCH, "memory = xcalloc(1, bytes);", "memory = xmalloc(bytes);", ["test_thread_scratch"]),
    Mutant("age: keys of threads stay for ever", STABLE, "if (table_bytes(table) <= JFR_STABLE_BYTES)", "if (1)", KEYS),
    Mutant("age: keys are counted by names", STABLE, "return table->names.bytes +", "return", KEYS),
    Mutant("age: keys of the last chunk go", STABLE, "if (bytes > KEPT_BYTES && ages[kept].used != table->chunks)", "if (bytes > KEPT_BYTES)", KEYS),
    Mutant("age: keys that were used last go first", STABLE, "return x->used > y->used ? -1 : 1;", "return x->used > y->used ? 1 : -1;", KEYS),
    Mutant("age: a chunk does not end for keys", STABLE, "	stable->threads.chunks++;\n", "", KEYS),
    Mutant("age: a key is not used by who asks for it", STABLE, "	table->about.items[id].used = table->chunks;\n", "", KEYS),
    Mutant("age: keys are given again", STABLE, "kept = { .next_key = table->next_key,", "kept = { .next_key = intern_len(&table->names) / 2,", KEYS),
    Mutant("age: chunks do not end for keys", "userspace/recording/write.c", "	jfr_stable_end_chunk(&writer->stable);\n", "", ["test_recording_age"]),
    Mutant("age: all demangled names stay", SYMBOLS, "MIN(2 * symbols->name_bytes, (size_t)KNOWN_BYTES)", "(size_t)64 << 20", ["test_symbols"]),
    Mutant("age: names that are far are owed for ever", SYMBOLS, "	symbols->far = (struct far_names){ 0 };\n", "", ["test_far_symbols"]),
    Mutant("age: rows of files that are gone stay", UNWINDER, "	row_store_drop_others(unwinder->rows, has_file, unwinder->files, clock_now_ns());\n", "", ["test_unwinder_news"]),
    Mutant("age: rows of files that are there go", "userspace/unwind/tables/row_store.c", "if (key->file && !has_file(key->file, data))", "if (key->file)", ["test_row_store"]),
    Mutant("age: lists of who has ended stay", "userspace/unwind/tables/space_store.c", "while (lists->idle_lists > MAX_IDLE_LISTS &&", "while (0 &&", ["test_space_store"]),
    Mutant("age: lists go that are being read", "userspace/unwind/tables/space_store.c", "while (lists->idle_lists > MAX_IDLE_LISTS &&\n\t       quarantine_is_over(lists->idle_first->idle_ns, now_ns))",
           "while (lists->idle_lists > MAX_IDLE_LISTS)", ["test_space_store"]),
    Mutant("age: symbols of who has ended stay", DROP, "	drop_unwanted(cache);\n", "", ["test_image_unwanted"]),
    Mutant("age: symbols that are wanted go with them", DROP, "if ((*at)->wants || !may_drop(*at) || (*at)->asked > cache->tidy_asks)", "if (!may_drop(*at) || (*at)->asked > cache->tidy_asks)", ["test_image_unwanted"]),
    Mutant("age: symbols that were just asked for go, too", DROP, "!may_drop(*at) || (*at)->asked > cache->tidy_asks)", "!may_drop(*at))", ["test_image_unwanted"]),
    Mutant("age: no symbols stay where there is no room", DROP, "cache->content_limit / WANTED_SHARE", "0", ["test_image_cache"]),
]
