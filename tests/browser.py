"""A real Chromium without a window, driven through its DevTools pipe: no port, no network, no other program.

with Browser() as browser:
    page = browser.open(path, width=360, scheme="dark")
    assert page.ask("document.title")
    assert [] == page.complaints
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# A browser looks for its pipe at 3 and 4.
_PUT_IN_PLACE = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_PATIENCE = 60.0  # seconds; only a browser that hangs takes so long
_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    " ": (32, " "),
    "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""),
    "Home": (36, ""),
    "End": (35, ""),
}

Json = dict[str, Any]


def find_browser() -> str | None:
    """The program, if there is one on this machine."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One browser with a profile of its own, gone when it is closed."""

    def __init__(self) -> None:
        program = find_browser()
        assert program is not None, f"none of {', '.join(PROGRAMS)} is installed"
        self._profile = tempfile.TemporaryDirectory(prefix="crusts-chromium-", ignore_cleanup_errors=True)
        self._profile_flag = f"--user-data-dir={self._profile.name}"
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # At 3 and 4 something else of ours may be open: first out of the way.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (theirs_in, theirs_out)]

        self._process = subprocess.Popen(
            [sys.executable, "-c", _PUT_IN_PLACE, *map(str, high), program, *_FLAGS, self._profile_flag, "about:blank"],
            pass_fds=high,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (theirs_in, theirs_out, *high):
            os.close(fd)
        self._buffer = b""
        self._number = 0
        self._answers: dict[int, Json] = {}
        self._pages: dict[str, Page] = {}

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ask it to go, and see to it."""
        with contextlib.suppress(OSError, AssertionError):
            self.send("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def open(
        self, path: Path, *, width: int = 1100, height: int = 900, scheme: str = "light", before: str = ""
    ) -> Page:
        """A page from a file, loaded; `before` is a script that runs ahead of all others."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        self._pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        mobile = width < 600
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        page.media(scheme)
        if before:
            page.send("Page.addScriptToEvaluateOnNewDocument", source=before)
        page.send("Page.bringToFront")
        page.send("Page.navigate", url=path.resolve().as_uri())
        self.wait(lambda: page.loaded)
        return page

    def send(self, method: str, session: str | None = None, /, **params: Any) -> Json:
        """A command and its result."""
        self._number += 1
        number = self._number
        message: Json = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        self.wait(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: Json = answer["result"]
        return result

    def wait(self, until: Any) -> None:
        """Take in what the browser says until something holds."""
        end = time.monotonic() + _PATIENCE
        while not until():
            left = end - time.monotonic()
            assert left > 0, "the browser does not answer"
            ready, _, _ = select.select([self._in], [], [], left)
            if ready:
                data = os.read(self._in, 1 << 20)
                assert data, f"the browser ended with {self._process.poll()}"
                self._buffer += data
                *messages, self._buffer = self._buffer.split(b"\0")
                for message in messages:
                    self._take(json.loads(message))

    def _take(self, message: Json) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
        elif message.get("sessionId") in self._pages:
            self._pages[message["sessionId"]].hear(message["method"], message["params"])


class Page:
    """One page. `complaints` are errors, warnings and dialogs; `requests` all that it asked for."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target
        self.loaded = False
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def hear(self, method: str, params: Json) -> None:
        """One event."""
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {params['exceptionDetails']}")
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{params['type']}: {params['args']}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"log: {params['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {params['message']}")

    def send(self, method: str, /, **params: Any) -> Json:
        """A command to this page."""
        return self._browser.send(method, self._session, **params)

    def media(self, scheme: str = "light", medium: str = "") -> None:
        """How it is looked at: `scheme` light or dark, `medium` print."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=medium, features=features)

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        done = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str) -> None:
        """A key, down and up."""
        code, text = _KEYS[key]
        given: Json = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **given, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **given)

    def move(self, x: float, y: float) -> None:
        """The mouse to a point of the view."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """A click there."""
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector: str) -> tuple[float, float]:
        """The middle of an element, scrolled into view."""
        self.ask(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.ask(
            f"(b => [b.left + b.width / 2, b.top + b.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        return box[0], box[1]

    def picture(self, path: Path) -> Path:
        """The whole page as PNG."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"])

    def close(self) -> None:
        """The page is done with."""
        self._browser.send("Target.closeTarget", targetId=self._target)
