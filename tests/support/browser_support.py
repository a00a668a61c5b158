"""Chromium without a screen, in which pages are opened (packages-test.txt); tests are skipped where there is none.

FATHOMETER_SCREENSHOTS names a folder in which the pictures of the pages are kept, to be looked at.
"""

from __future__ import annotations

import base64
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import PATIENCE


def programs():
    """Chromium and its driver; the test is skipped where one is missing."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in found:
        pytest.skip("no chromium and chromedriver here (packages-test.txt; `make test` as root installs them)")
    return found


@contextmanager
def opened_browser():
    """Chromium without a screen."""
    chromium, driver = programs()
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    os.environ["SE_OFFLINE"] = "true"  # selenium looks for nothing on the network
    with webdriver.Chrome(options=options, service=Service(driver)) as opened:
        yield opened


def open_page(browser, path, width):
    """Load a page as wide as that and wait until its figures are drawn; the severe lines of its console."""
    browser.get_log("browser")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get(path.as_uri())
    deadline = time.monotonic() + PATIENCE
    while browser.execute_script("return document.documentElement.dataset.drawn") != "yes":
        assert time.monotonic() < deadline, browser.get_log("browser")
        time.sleep(0.05)
    return [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def photograph(browser, name):
    folder = os.environ.get("FATHOMETER_SCREENSHOTS")
    if folder:
        width, height = browser.execute_script(
            "const e = document.documentElement; return [innerWidth, e.scrollHeight]"
        )
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))


def check_width(browser, width):
    """Nothing reaches beyond the window."""
    wide, window = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert window == width
    assert wide <= window
    # Nothing is cut off either, but within the boxes that scroll.
    beyond = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, svg, .plot, .slices') "
        "&& one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))"
    )
    assert beyond == []
    inner = browser.execute_script(
        "return [...document.querySelectorAll('.plot, .slices')].every((box) => "
        "[...box.querySelectorAll('.main-svg')].every((svg) => "
        "svg.getBoundingClientRect().right <= box.getBoundingClientRect().right + 1))"
    )
    assert inner
