# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for the tests of the flame graph page (Debian: chromium-driver, python3-selenium)."""
import os
import re
import shutil

from hp import BUILD, Failed, cleanup, run, skip, temp_dir, temp_path, wait_until

MAKE_PAGE = os.path.join(BUILD, "tools", "make_page")

CHROMIUM_FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
                  "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync"]


def _browser(width, height):
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        skip("python3-selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in CHROMIUM_FLAGS + [f"--user-data-dir={temp_dir()}", f"--window-size={width},{height}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    cleanup(browser.quit)
    return browser


class Page:
    """The page of a file, once its graph is drawn."""

    def __init__(self, path, width=1600, height=900):
        self.browser = _browser(width, height)
        self.browser.set_page_load_timeout(120)
        self.browser.set_script_timeout(60)
        self.browser.get("file://" + path)
        wait_until(lambda: self.js("return !!window.hostprof"), 60, "the page's graph")
        if not self.get("ready"):
            raise Failed(f"the page failed: {self.get('error')}")
        self.settle()

    def js(self, code, *args):
        return self.browser.execute_script(code, *args)

    def get(self, name):
        """A property of window.hostprof."""
        return self.js("return window.hostprof[arguments[0]]", name)

    def call(self, name, *args):
        """A function of window.hostprof."""
        return self.js("const [name, ...rest] = arguments; return window.hostprof[name](...rest)",
                       name, *args)

    def settle(self):
        """Wait until nothing moves: a zoom is over and drawn."""
        wait_until(lambda: self.js("return window.hostprof.settled"), 30, "the end of the zoom")

    def text(self, element_id):
        return self.js("return document.getElementById(arguments[0]).innerText", element_id)

    def click(self, element_id):
        self.browser.find_element("id", element_id).click()
        self.settle()

    def keys(self, *keys):
        """Type into whatever has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).send_keys(*keys).perform()
        self.settle()

    def focus_graph(self):
        self.js("document.getElementById('graph').focus()")

    def _at_box(self, name, action):
        from selenium.webdriver.common.action_chains import ActionChains
        rect = self.call("rectOf", name)
        if not rect or rect["width"] <= 0:
            raise Failed(f"there is no box {name!r} to point at")
        canvas = self.browser.find_element("id", "graph")
        size = self.js("const g = document.getElementById('graph'); "
                       "return [g.clientWidth, g.clientHeight]")
        x = rect["left"] + rect["width"] / 2 - size[0] / 2
        y = rect["top"] + rect["height"] / 2 - size[1] / 2
        chain = ActionChains(self.browser).move_to_element_with_offset(canvas, int(x), int(y))
        getattr(chain, action)().perform() if action else chain.perform()
        self.settle()

    def click_box(self, name):
        self._at_box(name, "click")

    def double_click_box(self, name):
        self._at_box(name, "double_click")

    def hover_box(self, name):
        self._at_box(name, None)

    def search(self, text):
        """Type into the search field; returns what the page says is matched."""
        from selenium.webdriver.common.keys import Keys
        field = self.browser.find_element("id", "search")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE)
        field.send_keys(text)
        wait_until(lambda: self.js("return hostprof.state.search") == text, 30, "the search")
        self.settle()
        return self.text("matched")

    def pick_process(self, text):
        """Click the entry of the process list that holds TEXT."""
        found = self.js("""for (const button of document.querySelectorAll('#processes button'))
            if (button.innerText.includes(arguments[0])) { button.click(); return true; }
            return false;""", text)
        if not found:
            raise Failed(f"no process {text!r} in the list: {self.text('processes')!r}")
        self.settle()

    def errors(self):
        """What the browser's console and window.onerror complained about."""
        return [entry["message"] for entry in self.browser.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def pixel(self, name):
        """Colour of the canvas in the left part of a box, as (r, g, b)."""
        rect = self.call("rectOf", name)
        return tuple(self.js("""const g = document.getElementById('graph');
            const k = devicePixelRatio;
            const [x, y] = [arguments[0] * k, arguments[1] * k];
            const copy = document.createElement('canvas').getContext('2d');
            copy.drawImage(g, -Math.floor(x), -Math.floor(y));
            return Array.from(copy.getImageData(0, 0, 1, 1).data).slice(0, 3);""",
                             rect["left"] + 1.5, rect["top"] + 2))


def make_page(kind, suffix=".html"):
    """A page of a profile made by tests/tools/make_page.c; returns its path."""
    if not os.path.exists(MAKE_PAGE):
        raise Failed(f"{MAKE_PAGE} is missing; `make workloads` builds it")
    path = temp_path(kind + suffix)
    run([MAKE_PAGE, kind, path], code=0)
    return path


def percent(text):
    """The first percentage in a text of the page, as a number."""
    found = re.search(r"([0-9.]+) %", text)
    if not found:
        raise Failed(f"no percentage in {text!r}")
    return float(found.group(1))
