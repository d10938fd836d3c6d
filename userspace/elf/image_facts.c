/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an image. */
#include "elf/image.h"

#include "elf/image_index.h"

enum image_state image_state(const struct image *image)
{
	return image->state;
}

uint64_t image_number(const struct image *image)
{
	return image->number;
}

uint32_t image_tables(const struct image *image)
{
	return image->tables;
}

void image_set_tables(struct image *image, uint32_t tables)
{
	image->tables = tables;
}

const char *image_path(const struct image *image)
{
	return image->path;
}

const struct file_id *image_id(const struct image *image)
{
	return &image->id;
}

const char *image_build_id(const struct image *image)
{
	return image->content.build_id;
}

const char *image_failure(const struct image *image)
{
	return image->content.failure ? image->content.failure : "";
}

#define SEGMENT_EXECUTABLE 1U /* PF_X */

void image_text_range(const struct image *image, uint64_t *ret_start, uint64_t *ret_limit,
		      uint64_t *ret_offset)
{
	const struct elf_segment *segment;

	*ret_start = *ret_limit = *ret_offset = 0;
	vec_for_each (segment, &image->content.segments)
		if (segment->flags & SEGMENT_EXECUTABLE) {
			*ret_start = segment->address;
			*ret_limit = segment->address + segment->memory_size;
			*ret_offset = segment->offset;
			return;
		}
}

/* Mappings are whole pages: what lies before and after the segment in its pages belongs to it. */
static bool segment_holds(const struct elf_segment *segment, uint64_t offset)
{
	const uint64_t page = 4096;
	uint64_t end = segment->offset + segment->file_size;

	return offset >= (segment->offset & ~(page - 1)) &&
	       offset < ((end + page - 1) & ~(page - 1));
}

bool image_offset_to_address(const struct image *image, uint64_t offset, uint64_t *ret_address)
{
	const struct elf_segment *segment, *found = NULL;

	/* two segments can share a page of the file; code is what is asked for */
	vec_for_each (segment, &image->content.segments)
		if (segment_holds(segment, offset) &&
		    (!found || (segment->flags & SEGMENT_EXECUTABLE)))
			found = segment;
	if (!found)
		return false;
	*ret_address = found->address + (offset - found->offset);
	return true;
}

bool image_find_symbol(struct image *image, uint64_t address, struct elf_symbol *ret_symbol)
{
	image->used = true;
	return image->state == IMAGE_READY &&
	       symbols_find(&image->content.symbols, address, ret_symbol);
}

bool image_find_go(struct image *image, uint64_t address, struct go_frames *ret_frames)
{
	image->used = true;
	return image->state == IMAGE_READY &&
	       symbols_find_go(&image->content.symbols, address, ret_frames);
}

bool image_find_function(struct image *image, uint64_t address, uint64_t *ret_start)
{
	image->used = true;
	return image->state == IMAGE_READY &&
	       bounds_find(&image->content.symbols.bounds, address, ret_start);
}
