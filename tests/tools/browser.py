# SPDX-License-Identifier: MIT
"""A headless Chromium, steered by its DevTools protocol through two pipes
(--remote-debugging-pipe: NUL-terminated JSON, descriptors 3 and 4).

Runs in: tests, bench.  The protocol is described at
chromedevtools.github.io/devtools-protocol."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

HANG_SECONDS = 120
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The path of a Chromium, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class BrowserError(Exception):
    pass


class Browser:
    """A browser with one tab.  Everything that a page should not do is
    gathered: console messages, dialogs, requests."""

    def __init__(self, width=1400, height=900, dark=False):
        self.home = tempfile.mkdtemp(prefix="jprof-browser-")
        self.number = 0
        self.buffer = b""
        self.messages, self.dialogs, self.requests = [], [], []
        self.scripts = []
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def wire():
            # 3 and 4 may be among the pipes' own numbers.
            source, target = os.dup(to_read), os.dup(to_write)
            source, target = (os.dup(one) for one in (source, target))
            os.dup2(source, 3)
            os.dup2(target, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--mute-audio",
             "--disable-extensions", "--disable-background-networking",
             "--enable-precise-memory-info",
             "--user-data-dir=" + self.home, "--remote-debugging-pipe",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=wire, close_fds=False,
            start_new_session=True, env={**os.environ, "HOME": self.home})
        os.close(to_read)
        os.close(to_write)
        self.session = None
        self.attach(width, height, dark)

    def attach(self, width, height, dark):
        targets = self.call("Target.getTargets")["targetInfos"]
        page = [one for one in targets if one["type"] == "page"]
        target = page[0]["targetId"] if page else self.call(
            "Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            self.call(domain + ".enable")
        self.resize(width, height, dark)

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def send(self, method, parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        return self.number

    def receive(self, end):
        """The next message; None at the time `end`."""
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                return None
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise BrowserError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        """Keeps what a page did."""
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(json.dumps(given["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(given["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.messages.append(given["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(given["message"])
            self.send("Page.handleJavaScriptDialog", {"accept": False})
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])

    def call(self, method, **parameters):
        """The result of a command."""
        number = self.send(method, parameters)
        end = time.monotonic() + HANG_SECONDS
        while True:
            message = self.receive(end)
            if message is None:
                raise BrowserError("no answer to " + method)
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserError("%s: %s" % (method, message["error"]))
                return message["result"]
            self.note(message)

    def run(self, script):
        """The value of a script, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=script,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def open(self, path, wanted="true"):
        """Opens a file and waits until a condition holds in it."""
        self.messages, self.dialogs, self.requests = [], [], []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(
            path.split("#")[0]).replace("%", "%25")
            + ("#" + path.split("#", 1)[1] if "#" in path else ""))
        self.wait("document.readyState === 'complete' && location.protocol "
                  "=== 'file:' && (%s)" % wanted)

    def wait(self, condition):
        end = time.monotonic() + HANG_SECONDS
        while not self.run("Boolean(%s)" % condition):
            if time.monotonic() > end:
                raise BrowserError("waited in vain for " + condition)
            time.sleep(0.02)

    def key(self, key, text=None):
        """Presses a key."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37,
                 "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        given = {"key": key, "windowsVirtualKeyCode": codes.get(
            key, ord(key.upper()) if len(key) == 1 else 0)}
        if len(key) == 1 or key == "Enter":
            given["text"] = text or ("\r" if key == "Enter" else key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def drag(self, start, end):
        """Presses the mouse at one place and lets it go at another."""
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end),
                             ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="left", buttons=1, clickCount=1)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as target:
            target.write(base64.b64decode(data))

    def metrics(self):
        """{name: value}: TaskDuration is CPU time of the main thread in
        seconds."""
        found = self.call("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in found}

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
