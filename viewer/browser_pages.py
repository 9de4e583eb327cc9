"""Pages of runs in a real Chromium, for browser_test.py.

$SAMPLE_PAGE is the program that writes the pages. Screenshots go to $TEST_UNDECLARED_OUTPUTS_DIR,
where it is set.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser_scripts import NUMBER_OF_COLOURS, POINT_OF
from chromium import start_chromium

folder = pathlib.Path(tempfile.mkdtemp())


class Driver:
    """Chromium's driver, which starts at its first use."""
    started = None

    def __getattr__(self, name):
        if Driver.started is None:
            Driver.started = start_chromium(folder / "profile")
        return getattr(Driver.started, name)


driver = Driver()


def tearDownModule():
    if Driver.started is not None:
        Driver.started.quit()
    shutil.rmtree(folder, ignore_errors=True)


def page_of(name):
    path = folder / f"{name}.html"
    if not path.exists():
        with open(path, "wb") as file:
            subprocess.run([os.environ["SAMPLE_PAGE"], name], stdout=file, check=True)
    return path.as_uri()


def find(name):
    return driver.find_element(By.ID, name)


def script(text, *arguments):
    return driver.execute_script(text, *arguments)


def wait_for(text):
    WebDriverWait(driver, 120, 0.05).until(lambda _: script("return " + text))


class PageTest(unittest.TestCase):
    def setUp(self):
        driver.set_window_size(1280, 1000)

    def open(self, name):
        driver.get(page_of(name))
        wait_for("window.rankbox && rankbox.drawn > 0")
        script("for (const each of document.querySelectorAll('details')) each.open = true")

    def screenshot(self, name):
        wait_for("!rankbox.frame && !rankbox.gliding")
        target = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", str(folder))
        path = pathlib.Path(target) / f"{name}.png"
        driver.save_screenshot(str(path))
        self.assertGreater(path.stat().st_size, 10_000)
        self.assertGreater(script(NUMBER_OF_COLOURS), 8, "the picture is blank")

    def point(self, event):
        """Rests the pointer on an event."""
        canvas = find("picture")
        script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        x, y = script(POINT_OF, event)
        box = canvas.size
        actions = ActionChains(driver)
        actions.move_to_element_with_offset(canvas, x - box["width"] // 2, y - box["height"] // 2)
        return actions

    def press(self, *keys):
        find("picture").send_keys(*keys)
        wait_for("!rankbox.frame && !rankbox.gliding")

    def span(self):
        return script("return rankbox.view.end - rankbox.view.begin")

    def begin(self):
        return script("return rankbox.view.begin")
