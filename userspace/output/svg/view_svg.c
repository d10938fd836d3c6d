/* SPDX-License-Identifier: Apache-2.0 */
#include "output/svg/view_svg.h"

#include <inttypes.h>

#include "base/units.h"
#include "base/utf8.h"
#include "output/calltree.h"
#include "output/markup.h"
#include "output/svg/svg_layout.h"
#include "output/view_title.h"
#include "profile/filter.h"
#include "profile/frame_kind.h"

#define WIDTH	   1200.0
#define MARGIN	   10.0
#define HEAD	   52.0
#define FOOT	   30.0
#define ROW	   17.0
#define CHAR_WIDTH 6.65 /* of the 11 px monospace font */
#define SMALLEST   1.0	/* px; narrower boxes are left out */
#define SWATCH	   11.0

static const char style[] =
	"<style>\n"
	"text{font:11px ui-monospace,\"DejaVu Sans Mono\",monospace;fill:#16181d}\n"
	".title{font:600 16px system-ui,sans-serif}\n"
	".facts{font:12px system-ui,sans-serif;fill:#5d6472}\n"
	".paper{fill:#fff}\n";

static const char dark_style[] =
	"@media(prefers-color-scheme:dark){.paper{fill:#16181d}text{fill:#f2f3f6}"
	".facts{fill:#9aa2b1}\n";

/* Boxes that say why a stack is cut are hatched: they are not code. */
static const char hatch[] =
	"<defs><pattern id=\"cut\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
	"patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"6\" fill=\"#000\" "
	"fill-opacity=\".18\"/></pattern></defs>\n";

struct picture {
	const struct profile *p;
	const struct calltree *tree;
	const struct svg_layout *layout;
	uint32_t event;
	double scale; /* px per weight */
	bool kind_used[SVG_KIND_LEVEL + 1];
	struct strbuf text; /* what is written next */
	FILE *out;	    /* borrowed */
};

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
	strbuf_addf(&pic->text, ".k%d{fill:%s}\n", SVG_KIND_LEVEL, dark ? "#3b414e" : "#d5dae3");
}

static void add_facts(struct picture *pic)
{
	const struct calltree_node *nodes = pic->tree->nodes.items;
	const struct profile_event *event;
	struct strbuf facts = STRBUF_INIT;
	uint64_t samples = 0;

	for (size_t i = 0; i < pic->tree->nodes.len; i++)
		samples += nodes[i].self_samples;
	if (pic->event != PROFILE_NONE) {
		event = profile_get_event(pic->p, pic->event);
		strbuf_addf(&facts, "%s: ", profile_get_string(pic->p, event->name));
		units_format_count(&facts, samples);
		strbuf_addstr(&facts, " samples, ");
		units_format_value(&facts, nodes[0].total, profile_get_string(pic->p, event->unit));
	}
	if (pic->p->duration_ns) {
		strbuf_addstr(&facts, " in ");
		units_format_duration(&facts, pic->p->duration_ns);
	}
	if (pic->layout->hidden_nodes)
		strbuf_addf(&facts, "; %" PRIu64 " boxes narrower than %.1f px (%.2f %%) not drawn",
			    pic->layout->hidden_nodes, SMALLEST,
			    100.0 * (double)pic->layout->hidden_weight /
				    (double)MAX(nodes[0].total, 1));
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
	strbuf_addf(&pic->text,
		    "}\n</style>\n%s<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n",
		    hatch, WIDTH, height);
	add_text(pic, " class=\"title\"", MARGIN, 23, strbuf_str(&title));
	add_facts(pic);
	flush(pic);
	strbuf_release(&title);
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
	if (svg_kind_is_java(kind) && strlen(name) > room)
		name = without_package(name);
	strbuf_addf(&pic->text, "<text x=\"%.1f\" y=\"%.1f\">", left + 3, top + 12);
	if (strlen(name) <= room) {
		at = strlen(name);
	} else {
		for (size_t n; name[at] && chars < room - 1; at += n, chars++) {
			n = utf8_len(name + at, strlen(name + at));
			n = n ? n : 1;
		}
	}
	markup_escape(&pic->text, name, at);
	strbuf_addstr(&pic->text, name[at] ? "\xe2\x80\xa6</text>" : "</text>");
}

static void write_box(struct picture *pic, const struct svg_box *box)
{
	const char *name =
		box->depth ? intern_get(&pic->tree->names, box->name, NULL) : "All processes";
	double all = (double)MAX(pic->tree->nodes.items[0].total, 1);
	double left = MARGIN + (double)box->start * pic->scale;
	double width = box->depth ? (double)box->total * pic->scale : WIDTH - 2 * MARGIN;
	double top = HEAD + box->depth * ROW;

	strbuf_addstr(&pic->text, "<g><title>");
	markup_escape(&pic->text, name, strlen(name));
	strbuf_addf(&pic->text,
		    " (%.2f %%, self %.2f %%)</title><rect class=\"k%" PRIu32
		    "\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1\"/>",
		    100.0 * (double)box->total / all, 100.0 * (double)box->self / all, box->kind,
		    left, top, MAX(width - 0.6, 0.3), ROW - 1);
	if (!strncmp(name, "[unwind: ", 9))
		strbuf_addf(&pic->text,
			    "<rect fill=\"url(#cut)\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			    "height=\"%.1f\"/>",
			    left, top, MAX(width - 0.6, 0.3), ROW - 1);
	add_label(pic, name, box->kind, left, top, width);
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

static void draw(struct picture *pic, const struct view_options *options)
{
	double bottom = HEAD + pic->layout->levels * ROW;
	const struct svg_box *box;

	vec_for_each (box, &pic->layout->boxes)
		pic->kind_used[box->kind] = true;
	write_head(pic, options, bottom + FOOT);
	vec_for_each (box, &pic->layout->boxes)
		write_box(pic, box);
	write_legend(pic, bottom + 10);
	strbuf_release(&pic->text);
}

int view_svg_write(const struct profile *p, const struct view_options *options, FILE *out,
		   struct err *err)
{
	struct picture pic = { .p = p, .out = out };
	struct calltree_options tree_options;
	struct svg_layout layout;
	struct calltree tree;

	(void)err; /* drawing cannot fail; the caller checks OUT */
	view_tree_options(options, &tree_options);
	tree_options.by_process = true;
	tree_options.by_thread = options->threads;
	tree_options.count = false;
	calltree_build(p, &tree_options, &tree);
	pic.event = profile_filter_event(p, options->event);
	pic.scale = (WIDTH - 2 * MARGIN) / (double)MAX(tree.nodes.items[0].total, 1);
	svg_layout_init(
		&layout, &tree,
		MAX((uint64_t)(SMALLEST / pic.scale), calltree_least(&tree, options->min_percent)));
	pic.tree = &tree;
	pic.layout = &layout;
	draw(&pic, options);
	svg_layout_release(&layout);
	calltree_release(&tree);
	return 0;
}
