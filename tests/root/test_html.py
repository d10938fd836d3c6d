#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Needs no root.
"""The flame graph page in a real browser: chromium and selenium."""
import os
import re
import statistics

from hp import *
from page import Page, make_page, percent

# Figures of make_small() in tests/tools/make_page.c.
SMALL = 1000
JAVA = 700
NGINX = 300
PERIOD = 10_000_000


def open_page(kind, **more):
    return Page(make_page(kind), **more)


def expect_no_errors(page):
    expect_equal(page.errors(), [], "browser console")


@test
def shows_the_profile():
    page = open_page("small")
    expect_equal(page.get("total"), SMALL * PERIOD, "weight of the root")
    expect_equal(page.get("root"), "All processes", "root")
    expect_equal(page.call("childrenOf", "All processes"), ["java-4242", "nginx-100"], "processes")
    expect_equal(page.call("totalOf", "java-4242"), JAVA * PERIOD, "weight of the JVM")
    expect_equal(page.call("selfOf", "vfs_read"), 100 * PERIOD, "self weight of a leaf")
    facts = page.text("facts")
    for part in ("workshop", "10.0 s", "1,000 samples", "2 processes, 1 JVM"):
        expect_in(part, facts, "facts")
    expect_equal(page.text("title"), "Flame graph of workshop", "title")
    expect_equal(page.text("quality-button"), "100 % complete", "complete share")
    expect_no_errors(page)


@test
def draws_in_the_colours_of_the_kinds():
    page = open_page("small")
    red, green, blue = page.pixel("vfs_read")
    expect(red > 200 and 100 < green < 190 and blue < 90, f"kernel is not orange: {red, green, blue}")
    red, green, blue = page.pixel("org.example.Shop.place")
    expect(green > 200 and red < 170 and blue < 170, f"Java is not green: {red, green, blue}")
    page.click("theme")
    dark = page.pixel("org.example.Shop.place")
    expect(dark[1] < green, f"dark theme is not darker: {dark}")
    expect_no_errors(page)


@test
def tiers_of_a_method_are_one_box_or_several():
    page = open_page("small")
    expect_equal(page.call("childrenOf", "java.lang.Thread.run"), ["org.example.Shop.place"], "merged")
    expect_equal(page.call("totalOf", "org.example.Shop.place"), 600 * PERIOD, "its weight")
    page.hover_box("org.example.Shop.place")
    tip = page.text("tip")
    for part in ("Java, compiled", "83.3 %", "Java, C1 compiled", "8.33 %", "600 samples", "Source.java"):
        expect_in(part, tip, "tooltip")
    page.click("tiers")
    expect_equal(page.call("childrenOf", "java.lang.Thread.run"), ["org.example.Shop.place"] * 3, "apart")
    expect_no_errors(page)


@test
def search_counts_every_sample_once():
    page = open_page("small")
    expect_equal(page.search("^work$"), "20.0 % matched", "nested matches")
    expect_equal(page.get("matchedShare"), 0.2, "share")
    expect_equal(page.search(r"Cart\.sum"), "40.0 % matched", "matches in three tiers")
    expect_equal(page.search("."), "100 % matched", "everything")
    expect_equal(page.search("nobody_has_this_name"), "0 % matched", "nothing")
    expect_equal(page.search("shop"), "60.0 % matched", "lower case finds capitals")
    expect_equal(page.search("SHOP"), "0 % matched", "capitals matter")
    expect_equal(page.search("work("), "not a regular expression", "half an expression")
    expect_equal(page.search(""), "", "no search")
    expect_no_errors(page)


@test
def agrees_with_the_collapsed_stacks():
    jfr = temp_path("host.jfr")
    run([os.path.join(BUILD, "tools", "gen_recording"), jfr, 20000], code=0)
    page_path = temp_path("host.html")
    hostprof("report", jfr, "-o", page_path)
    lines = collapsed(jfr, "--total")
    page = Page(page_path)
    expect_equal(page.get("total"), total(lines), "weight")
    processes = {line.process for line in lines}
    expect_equal(set(page.call("childrenOf", "All processes")), processes, "processes")
    for process in sorted(processes):
        weight = total([line for line in lines if line.process == process])
        expect_equal(page.call("totalOf", process), weight, f"weight of {process}")
    for pattern in (r"part17\.", r"Handler1\d\.method2$", "^module5::"):
        page.search(pattern)
        found = re.compile(pattern, re.IGNORECASE)
        weight = total([line for line in lines
                        if any(found.search(name) for name in [line.process, *line.frames])])
        expect(0 < weight < total(lines), f"{pattern!r} decides nothing")
        expect_between(page.get("matchedShare") * total(lines), weight - 0.5, weight + 0.5,
                       f"weight that matches {pattern!r}")
    expect_no_errors(page)


@test
def search_follows_the_zoom():
    page = open_page("small")
    page.search("^work$")
    page.click_box("nginx-100")
    expect_equal(percent(page.text("matched")), 66.7, "share of what is zoomed into")
    page.keys("0")
    page.click_box("java-4242")
    expect_equal(page.text("matched"), "0 % matched", "share of a process without matches")
    expect_no_errors(page)


@test
def steps_through_matches_heaviest_first():
    page = open_page("small")
    page.search("parse_header|vfs_read|sum")
    page.click("next")
    expect_equal(page.get("selected"), "org.example.Cart.sum", "first match")
    expect_in("1 of 4", page.text("matched"), "place")
    page.click("next")
    expect_equal(page.get("selected"), "parse_header", "second match")
    page.click("previous")
    page.click("previous")
    expect_in("4 of 4", page.text("matched"), "from the first to the last")
    expect_no_errors(page)


@test
def zooms_by_click_path_and_keys():
    from selenium.webdriver.common.keys import Keys
    page = open_page("small")
    page.click_box("nginx-100")
    expect_equal(page.get("zoomed"), "nginx-100", "after a click")
    width = page.call("rectOf", "nginx-100")["width"]
    expect_between(page.call("rectOf", "event_loop")["width"], width - 1, width + 1, "width of the callee")
    page.click_box("work")
    expect_equal(page.get("zoomed"), "work", "deeper")
    page.keys(Keys.ESCAPE)
    expect_equal(page.get("zoomed"), "nginx-100", "Esc goes back")
    page.click_box("parse_header")
    page.keys("0")
    expect_equal(page.get("zoomed"), "All processes", "0 resets")
    page.click_box("org.example.Cart.sum")
    expect_in("org.example.Cart.sum", page.text("path"), "path")
    page.js("document.querySelector('#path button').click()")
    page.settle()
    expect_equal(page.get("zoomed"), "All processes", "the path leads back")
    page.double_click_box("event_loop")
    expect_equal(page.get("zoomed"), "All processes", "a double click resets")
    expect_no_errors(page)


@test
def arrows_move_and_enter_zooms():
    from selenium.webdriver.common.keys import Keys
    page = open_page("small")
    page.focus_graph()
    page.keys(Keys.ARROW_DOWN)
    expect_equal(page.get("selected"), "All processes", "first the root")
    page.keys(Keys.ARROW_DOWN)
    expect_equal(page.get("selected"), "java-4242", "then its heaviest callee")
    page.keys(Keys.ARROW_RIGHT)
    expect_equal(page.get("selected"), "nginx-100", "its neighbour")
    page.keys(Keys.ENTER)
    expect_equal(page.get("zoomed"), "nginx-100", "Enter")
    page.keys(Keys.ARROW_UP)
    expect_equal(page.get("selected"), "All processes", "up")
    expect_in("All processes, 100 % of view", page.text("live"), "what a screen reader hears")
    page.keys("/")
    page.keys("work")
    wait_until(lambda: "matched" in page.text("matched"), what="typed search")
    page.keys(Keys.ESCAPE)
    expect_equal(page.text("matched"), "", "Esc ends the search")
    page.keys("?")
    expect(page.js("return document.getElementById('help').open"), "? opens no help")
    page.keys(Keys.ESCAPE)
    page.keys("i")
    expect(page.call("rectOf", "java-4242")["top"] < page.call("rectOf", "All processes")["top"],
           "flames do not grow upwards after i")
    expect_no_errors(page)


@test
def processes_and_events_can_be_chosen():
    page = open_page("small")
    page.pick_process("nginx")
    expect_equal(page.get("root"), "nginx-100", "root")
    expect_equal(page.get("total"), NGINX * PERIOD, "weight")
    expect_equal(page.search("^work$"), "66.7 % matched", "share of the process")
    page.hover_box("event_loop")
    expect_in("Share of all", page.text("tip"), "tooltip")
    expect_in("30.0 %", page.text("tip"), "share of the host")
    page.pick_process("merged")
    expect_equal(page.call("childrenOf", page.get("root")), ["clone3", "main"], "no process level")
    expect_equal(page.get("total"), SMALL * PERIOD, "weight")
    page.search("")
    page.js("const e = document.getElementById('event'); e.value = 1; "
            "e.dispatchEvent(new Event('change'))")
    page.settle()
    expect_equal(page.get("total"), 40 << 20, "bytes of the second event")
    expect_in("40.0 MB", page.text("facts"), "facts")
    page.js("const e = document.getElementById('metric'); e.value = 'samples'; "
            "e.dispatchEvent(new Event('change'))")
    page.settle()
    expect_equal(page.get("total"), 12, "samples of the second event")
    expect_no_errors(page)


def choose(page, control, value):
    page.js("const e = document.getElementById(arguments[0]); e.value = arguments[1]; "
            "e.dispatchEvent(new Event('change'))", control, value)
    page.settle()


@test
def another_event_is_shown_in_the_same_place():
    page = open_page("small")
    page.pick_process("java")
    page.search("Shop")
    page.click_box("org.example.Shop.place")
    zoomed = page.text("path")
    choose(page, "event", 1)
    expect_equal(page.get("root"), "java-4242", "process")
    expect_equal(page.get("total"), 40 << 20, "bytes of the process")
    expect_equal(page.text("path"), zoomed, "zoom")
    expect_equal(page.text("matched"), "100 % matched", "search in the other event")
    choose(page, "event", 0)
    expect_equal(page.get("root"), "java-4242", "process, back")
    expect_equal(page.text("path"), zoomed, "zoom, back")
    page.pick_process("nginx")
    choose(page, "event", 2)
    expect_equal(page.get("root"), "All processes", "a process that the event has not")
    expect_equal(page.get("total"), 5 << 20, "bytes alive")
    expect_no_errors(page)


@test
def bytes_are_samples_and_objects_too():
    page = open_page("small")
    choose(page, "event", 1)
    expect_in("12 samples, 40.0 MB, 100 objects", page.text("facts"), "facts")
    page.hover_box("org.example.Cart.sum")
    tip = page.text("tip")
    for part in ("10.0 MB", "9 samples", "70", "146 kB each"):
        expect_in(part, tip, "tooltip")
    choose(page, "metric", "objects")
    expect_equal(page.get("total"), 100, "objects")
    expect_equal(page.call("totalOf", "org.example.Cart.sum"), 70, "objects of a leaf")
    expect_equal(page.call("selfOf", "org.example.Shop.place"), 30, "objects of its own")
    page.click("reverse")
    expect_equal(page.call("totalOf", "org.example.Cart.sum"), 70, "objects of a leaf, reversed")
    expect_equal(page.call("totalOf", "org.example.Shop.place"), 30, "its own objects only, reversed")
    choose(page, "event", 0)
    expect_equal(page.get("total"), SMALL * PERIOD, "the event without objects")
    expect_no_errors(page)


@test
def threads_are_a_level_that_can_be_folded():
    page = open_page("threads")
    expect_equal(page.call("childrenOf", "java-4242"),
                 ["[http-worker-1 tid=4243]", "[GC Thread#0 tid=4250]"], "threads")
    page.click("threads")
    expect_equal(page.call("childrenOf", "java-4242"), ["clone3"], "threads merged")
    expect_equal(page.call("totalOf", "clone3"), JAVA * PERIOD, "weight over threads")
    expect_no_errors(page)


@test
def processes_of_one_name_can_be_one_box():
    page = open_page("many")
    expect_equal(len(page.call("childrenOf", "All processes")), 11, "processes")
    page.focus_graph()
    page.keys("g")
    expect_equal(page.call("childrenOf", "All processes"), ["cc1 \u00d7 10", "make-499"], "groups")
    expect_equal(page.call("totalOf", "parse"), 50 * PERIOD, "weight over processes")
    page.keys("g")
    expect_equal(page.call("totalOf", "parse"), 5 * PERIOD, "weight of one process")
    expect_no_errors(page)


@test
def reverse_shows_callers_of_leaves():
    page = open_page("small")
    page.focus_graph()
    page.keys("r")
    leaves = page.call("childrenOf", "All processes")
    expect_equal(leaves[0], "org.example.Cart.sum", "hottest leaf")
    expect_equal(page.call("totalOf", "org.example.Cart.sum"), 400 * PERIOD, "its weight")
    expect_equal(page.call("childrenOf", "org.example.Cart.sum"), ["org.example.Shop.place"], "its caller")
    expect_equal(page.call("totalOf", "work"), 200 * PERIOD, "leaf of two stacks")
    expect_equal(sum(page.call("totalOf", leaf) for leaf in set(leaves)), SMALL * PERIOD, "all samples")
    expect_no_errors(page)


@test
def kinds_are_highlighted_and_left_out():
    page = open_page("small")
    legend = page.text("legend")
    expect_in("Java, inlined", legend, "legend")
    before = page.pixel("main")
    page.js("[...document.querySelectorAll('#legend button')].find(b => /Kernel/.test(b.innerText)).click()")
    page.settle()
    expect(page.pixel("main") != before, "native boxes stay as bright when the kernel is highlighted")
    page.js("""[...document.querySelectorAll('#legend button')].find(b => /Kernel/.test(b.innerText))
        .dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true }))""")
    page.settle()
    expect_equal(page.call("find", "vfs_read"), -1, "box of a kind that is left out")
    expect_equal(page.get("total"), SMALL * PERIOD, "weight stays")
    expect_equal(page.call("selfOf", "org.example.Shop.place"), 200 * PERIOD, "its caller has the weight")
    expect_no_errors(page)


@test
def problems_are_told():
    page = open_page("problems")
    expect_equal(page.text("quality-button"), "60.0 % complete, 17 lost", "button")
    page.click("quality-button")
    text = page.text("quality")
    for part in ("60 of 100 stacks", "17 samples were lost", "[unwind: page-not-resident]",
                 "a page of the stack is not in memory", "symbols.file-vanished", "/tmp/gone"):
        expect_in(part, text, "quality")
    expect_no_errors(page)


@test
def hostile_names_are_only_text():
    page = open_page("hostile")
    for text in ("script", "img", "svg"):
        page.search(text)
    expect_equal(page.get("root"), "All processes", "root")
    page.click("quality-button")
    page.js("document.querySelector('dialog[open]').close()")
    page.focus_graph()
    page.keys("?")
    page.js("document.querySelector('dialog[open]').close()")
    for pid in range(100, 109):
        page.pick_process(f"pid {pid}")
        page.hover_box(page.call("childrenOf", page.get("root"))[0])
    expect_equal(page.js("return window.pwned"), None, "a name ran as script")
    expect_equal(page.js("return document.querySelectorAll('#evil, #processes img, svg').length"), 0,
                 "elements made by names")
    expect_equal(page.js("return document.title"), "</title><script>window.pwned=5</script>", "title")
    expect_no_errors(page)


@test
def empty_profile_says_so():
    page = open_page("empty")
    expect_equal(page.get("total"), 0, "weight")
    expect_in("no samples", page.text("facts"), "facts")
    expect_no_errors(page)


@test
def narrow_windows_keep_the_graph_usable():
    page = open_page("small", width=500, height=800)
    expect(page.js("return document.getElementById('side').hidden"), "the process list covers the graph")
    expect(page.js("return document.documentElement.scrollWidth <= window.innerWidth"),
           "the page is wider than the window")
    height = page.js("return document.getElementById('scroll').clientHeight")
    expect(height > 300, f"the graph has only {height} px")
    page.click("processes-button")
    page.pick_process("nginx")
    expect_equal(page.get("root"), "nginx-100", "root")
    expect_no_errors(page)


@test
def nothing_is_fetched():
    page = open_page("small")
    names = page.js("return performance.getEntriesByType('resource').map(e => e.name)")
    expect_equal([name for name in names if not name.startswith("data:")], [], "resources")
    expect_no_errors(page)


@test
def half_a_million_boxes_stay_usable():
    page = open_page("big")
    expect(page.get("nodes") > 500_000, f"only {page.get('nodes')} boxes")
    small = open_page("small")
    base = statistics.median(small.js("return hostprof.timeDraw(20)"))
    times = []
    for process in ("java-1003", "java-1010", "All processes"):
        page.call("zoomTo", process)
        page.settle()
        times += page.js("return hostprof.timeDraw(5)")
    expect(statistics.median(times) < 200 + 50 * base,
           f"a zoomed frame takes {statistics.median(times):.0f} ms, one of 16 boxes {base:.1f} ms")
    expect(page.get("boxes") < 50_000, f"{page.get('boxes')} boxes drawn in one frame")
    expect_in("matched", page.search("number_77"), "search")
    page.pick_process("pid 1007")
    expect_equal(page.get("root"), "java-1007", "root")
    canvas = page.js("const g = document.getElementById('graph'); return [g.width, g.height]")
    expect(max(canvas) < 8000, f"the canvas is {canvas[0]} x {canvas[1]}")
    page.js("document.getElementById('scroll').scrollTop = 1e6")
    page.settle()
    expect_no_errors(page)


@test
def picture_is_valid_xml():
    import xml.dom.minidom
    for kind in ("small", "hostile", "problems", "empty"):
        path = make_page(kind, ".svg")
        with open(path, "rb") as file:
            document = xml.dom.minidom.parse(file)
        expect_equal(document.documentElement.tagName, "svg", kind)
        expect_equal(len(document.getElementsByTagName("script")), 0, f"{kind}: scripts")


main(lanes=2)
