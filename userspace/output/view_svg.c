/* SPDX-License-Identifier: Apache-2.0 */
#include "output/view_svg.h"

#include <inttypes.h>

#include "base/units.h"
#include "output/calltree.h"
#include "output/markup.h"
#include "output/view_title.h"
#include "profile/filter.h"
#include "profile/frame_kind.h"

#define WIDTH	   1200.0
#define MARGIN	   10.0
#define HEAD	   52.0
#define FOOT	   30.0
#define ROW	   17.0
#define CHAR_WIDTH 6.65 /* of the 11 px monospace font */
#define SMALLEST   0.5	/* px; narrower boxes are left out */
#define SWATCH	   11.0

/* Process and thread levels, and the root. */
#define KIND_LEVEL FRAME_KIND_COUNT

static const char style[] =
	"<style>\n"
	"text{font:11px ui-monospace,\"DejaVu Sans Mono\",monospace;fill:#16181d}\n"
	".title{font:600 16px system-ui,sans-serif}\n"
	".facts{font:12px system-ui,sans-serif;fill:#5d6472}\n"
	".paper{fill:#fff}\n";

static const char dark_style[] =
	"@media(prefers-color-scheme:dark){.paper{fill:#16181d}text{fill:#f2f3f6}"
	".facts{fill:#9aa2b1}\n";

struct box {
	uint32_t node;
	double left; /* px */
};

struct picture {
	const struct profile *p;
	struct calltree tree;
	uint32_t event;
	double scale;	   /* px per weight */
	struct box *boxes; /* owned; by depth, parent and falling weight */
	size_t len;
	uint32_t levels;
	uint64_t hidden_nodes, hidden_weight;
	bool kind_used[FRAME_KIND_COUNT + 1];
	struct strbuf text; /* what is written next */
	FILE *out;	    /* borrowed */
};

static uint32_t node_kind(const struct picture *pic, const struct calltree_node *node)
{
	const struct calltree_label *label = intern_get(&pic->tree.labels, node->label, NULL);

	return MIN(label->kind, (uint32_t)KIND_LEVEL);
}

/* --- layout --- */

static int compare_boxes(const void *pa, const void *pb, void *arg)
{
	const struct calltree_node *nodes = arg;
	uint32_t na = ((const struct box *)pa)->node, nb = ((const struct box *)pb)->node;
	const struct calltree_node *a = &nodes[na], *b = &nodes[nb];

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return (na > nb) - (na < nb);
}

static bool is_drawn(const struct picture *pic, const struct calltree_node *node)
{
	return node->parent == PROFILE_NONE || (double)node->total * pic->scale >= SMALLEST;
}

static void select_boxes(struct picture *pic)
{
	const struct calltree_node *nodes = pic->tree.nodes.items;

	pic->boxes = xcalloc(pic->tree.nodes.len, sizeof(*pic->boxes));
	for (uint32_t i = 0; i < pic->tree.nodes.len; i++) {
		if (is_drawn(pic, &nodes[i])) {
			pic->boxes[pic->len++].node = i;
			pic->levels = MAX(pic->levels, nodes[i].depth + 1);
			pic->kind_used[node_kind(pic, &nodes[i])] = true;
			continue;
		}
		pic->hidden_nodes++;
		if (is_drawn(pic, &nodes[nodes[i].parent]))
			pic->hidden_weight += nodes[i].total;
	}
}

/* Siblings side by side from their parent's left edge on, the heaviest first. */
static void place_boxes(struct picture *pic)
{
	const struct calltree_node *nodes = pic->tree.nodes.items;
	_cleanup_free_ double *next = xcalloc(pic->tree.nodes.len, sizeof(*next));

	qsort_r(pic->boxes, pic->len, sizeof(*pic->boxes), compare_boxes, pic->tree.nodes.items);
	for (size_t i = 0; i < pic->len; i++) {
		struct box *box = &pic->boxes[i];
		const struct calltree_node *node = &nodes[box->node];

		box->left = node->parent == PROFILE_NONE ? MARGIN : next[node->parent];
		next[box->node] = box->left;
		if (node->parent != PROFILE_NONE)
			next[node->parent] += (double)node->total * pic->scale;
	}
}

/* --- writing --- */

static void flush(struct picture *pic)
{
	fwrite(strbuf_str(&pic->text), 1, pic->text.len, pic->out);
	strbuf_reset(&pic->text);
}

static void add_text(struct picture *pic, const char *class_name, double x, double y,
		     const char *text)
{
	strbuf_addf(&pic->text, "<text%s x=\"%.1f\" y=\"%.1f\">", class_name, x, y);
	markup_escape(&pic->text, text, strlen(text));
	strbuf_addstr(&pic->text, "</text>\n");
}

static void add_kind_styles(struct picture *pic, bool dark)
{
	for (int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		const struct frame_kind_info *info = frame_kind_info((enum frame_kind)kind);

		if (pic->kind_used[kind])
			strbuf_addf(&pic->text, ".k%d{fill:%s}", kind,
				    dark ? info->color_dark : info->color);
	}
	strbuf_addf(&pic->text, ".k%d{fill:%s}\n", KIND_LEVEL, dark ? "#3b414e" : "#d5dae3");
}

static void add_facts(struct picture *pic)
{
	const struct calltree_node *root = &pic->tree.nodes.items[0];
	const struct profile_event *event;
	struct strbuf facts = STRBUF_INIT;
	uint64_t samples = 0;

	for (size_t i = 0; i < pic->tree.nodes.len; i++)
		samples += pic->tree.nodes.items[i].self_samples;
	if (pic->event != PROFILE_NONE) {
		event = profile_get_event(pic->p, pic->event);
		strbuf_addf(&facts, "%s: ", profile_get_string(pic->p, event->name));
		units_format_count(&facts, samples);
		strbuf_addstr(&facts, " samples, ");
		units_format_value(&facts, root->total, profile_get_string(pic->p, event->unit));
	}
	if (pic->p->duration_ns) {
		strbuf_addstr(&facts, " in ");
		units_format_duration(&facts, pic->p->duration_ns);
	}
	if (pic->hidden_nodes)
		strbuf_addf(&facts, "; %" PRIu64 " boxes narrower than %.1f px (%.2f %%) not drawn",
			    pic->hidden_nodes, SMALLEST,
			    100.0 * (double)pic->hidden_weight / (double)MAX(root->total, 1));
	add_text(pic, " class=\"facts\"", MARGIN, 40, strbuf_str(&facts));
	strbuf_release(&facts);
}

static void write_head(struct picture *pic, const struct view_options *options, double height)
{
	struct strbuf title = STRBUF_INIT;

	strbuf_addf(&pic->text,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		    "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
		    WIDTH, height, WIDTH, height);
	view_format_title(&title, pic->p, options);
	markup_escape(&pic->text, strbuf_str(&title), title.len);
	strbuf_addf(&pic->text, "</title>\n%s", style);
	add_kind_styles(pic, false);
	strbuf_addstr(&pic->text, dark_style);
	add_kind_styles(pic, true);
	strbuf_addstr(&pic->text,
		      "}\n</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	add_text(pic, " class=\"title\"", MARGIN, 23, strbuf_str(&title));
	add_facts(pic);
	flush(pic);
	strbuf_release(&title);
}

static bool is_java(uint32_t kind)
{
	return kind < FRAME_KIND_COUNT && frame_kind_info((enum frame_kind)kind)->id[0] == 'j' &&
	       kind != FRAME_JIT_OTHER;
}

/* "org.example.Shop.place" as "Shop.place". */
static const char *without_package(const char *name)
{
	const char *dot = strrchr(name, '.');

	while (dot && dot > name && dot[-1] != '.')
		dot--;
	return dot ? dot : name;
}

/* As much of NAME as fits into WIDTH_PX; nothing when that is less than three letters. */
static void add_label(struct picture *pic, const char *name, uint32_t kind, double left, double top,
		      double width)
{
	size_t room = width > 8 ? (size_t)((width - 6) / CHAR_WIDTH) : 0;
	size_t at = 0, chars = 0;

	if (room < 3)
		return;
	if (is_java(kind) && strlen(name) > room)
		name = without_package(name);
	strbuf_addf(&pic->text, "<text x=\"%.1f\" y=\"%.1f\">", left + 3, top + 12);
	if (strlen(name) <= room) {
		at = strlen(name);
	} else {
		for (size_t n; name[at] && chars < room - 1; at += n, chars++) {
			n = markup_utf8_len(name + at, strlen(name + at));
			n = n ? n : 1;
		}
	}
	markup_escape(&pic->text, name, at);
	strbuf_addstr(&pic->text, name[at] ? "\xe2\x80\xa6</text>" : "</text>");
}

static void write_box(struct picture *pic, const struct box *box)
{
	const struct calltree_node *nodes = pic->tree.nodes.items, *node = &nodes[box->node];
	const char *name = calltree_name(&pic->tree, box->node);
	double top = HEAD + node->depth * ROW, width = (double)node->total * pic->scale;
	double share = 100.0 * (double)node->total / (double)MAX(nodes[0].total, 1);
	double self = 100.0 * (double)node->self / (double)MAX(nodes[0].total, 1);
	uint32_t kind = node_kind(pic, node);

	if (node->parent == PROFILE_NONE)
		width = WIDTH - 2 * MARGIN;
	strbuf_addstr(&pic->text, "<g><title>");
	markup_escape(&pic->text, name, strlen(name));
	strbuf_addf(&pic->text,
		    " (%.2f %%, self %.2f %%)</title><rect class=\"k%" PRIu32
		    "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1\"/>",
		    share, self, kind, box->left, top, MAX(width - 0.6, 0.3), ROW - 1);
	add_label(pic, name, kind, box->left, top, width);
	strbuf_addstr(&pic->text, "</g>\n");
	flush(pic);
}

static void write_legend(struct picture *pic, double top)
{
	double left = MARGIN;

	for (int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		const char *title = frame_kind_info((enum frame_kind)kind)->title;

		if (!pic->kind_used[kind])
			continue;
		strbuf_addf(
			&pic->text,
			"<rect class=\"k%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" "
			"rx=\"3\"/>",
			kind, left, top, SWATCH, SWATCH);
		add_text(pic, "", left + SWATCH + 5, top + 9.5, title);
		left += SWATCH + 22 + (double)strlen(title) * CHAR_WIDTH;
	}
	strbuf_addstr(&pic->text, "</svg>\n");
	flush(pic);
}

int view_svg_write(const struct profile *p, const struct view_options *options, FILE *out,
		   struct err *err)
{
	struct picture pic = { .p = p, .out = out };
	struct calltree_options tree_options;
	double bottom;

	(void)err; /* drawing cannot fail; the caller checks OUT */
	view_tree_options(options, &tree_options);
	tree_options.by_process = true;
	tree_options.by_thread = options->threads;
	tree_options.count = false;
	tree_options.plain = true; /* one box per method, whatever its tier */
	pic.event = profile_filter_event(p, options->event);
	calltree_build(p, &tree_options, &pic.tree);
	pic.scale = (WIDTH - 2 * MARGIN) / (double)MAX(pic.tree.nodes.items[0].total, 1);
	select_boxes(&pic);
	place_boxes(&pic);
	bottom = HEAD + pic.levels * ROW;
	write_head(&pic, options, bottom + FOOT);
	for (size_t i = 0; i < pic.len; i++)
		write_box(&pic, &pic.boxes[i]);
	write_legend(&pic, bottom + 10);
	free(pic.boxes);
	strbuf_release(&pic.text);
	calltree_release(&pic.tree);
	return 0;
}
