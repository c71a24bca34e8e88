"""browser.py -- a headless Chromium, spoken to through a pipe: pages as they look, what they say, how fast they play."""
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time
import zlib


def find():
    """The browser's path, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One tab. `errors` gathers what the page threw, logged as an error, or asked of elsewhere."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp()
        self.read, theirs_write = os.pipe()
        theirs_read, self.write = os.pipe()

        def pipes():
            read, write = os.dup(theirs_read), os.dup(theirs_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu-compositing",
             "--enable-unsafe-swiftshader", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
             "--user-data-dir=" + self.folder, "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_read)
        os.close(theirs_write)
        self.rest, self.number, self.errors, self.session = b"", 0, [], None
        tab = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=tab["targetId"], flatten=True)["sessionId"]
        for what in ("Page", "Runtime", "Log", "Network"):
            self.ask(what + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        text, _, self.rest = self.rest.partition(b"\0")
        said = json.loads(text)
        about = said.get("params", {})
        if said.get("method") == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        if said.get("method") == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in about["args"]))
        if said.get("method") == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            if "GPU stall due to ReadPixels" not in about["entry"]["text"]:  # of a picture taken, not of the page
                self.errors.append(about["entry"]["text"])
        if said.get("method") == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + about["message"])
            self.send("Page.handleJavaScriptDialog", accept=True)
        if said.get("method") == "Network.requestWillBeSent":
            url = about["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                self.errors.append("asked for " + url)
        return said

    def send(self, method, **params):
        self.number += 1
        said = {"id": self.number, "method": method, "params": params}
        if self.session:
            said["sessionId"] = self.session
        os.write(self.write, json.dumps(said).encode() + b"\0")
        return self.number

    def ask(self, method, **params):
        number = self.send(method, **params)
        while True:
            said = self.message()
            if said.get("id") == number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']['message']}")
                return said["result"]

    def run(self, script):
        result = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def open(self, path, width=1280, height=800, dark=False, hash=""):
        """Load a file and wait until it has drawn."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=pathlib.Path(path).resolve().as_uri() + hash)
        end = time.time() + 60
        while self.run("document.readyState") != "complete" or self.run("location.href") == "about:blank":
            if time.time() > end:
                raise RuntimeError(f"{path} does not load")
            time.sleep(0.05)
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 50))))")

    def picture(self, selector=None, scale=1):
        """PNG of the window, or of an element."""
        options = {}
        if selector:
            box = self.run(f"(() => {{ const r = document.querySelector('{selector}').getBoundingClientRect();"
                           "return [r.x + scrollX, r.y + scrollY, r.width, r.height]; })()")
            options["clip"] = dict(zip(("x", "y", "width", "height"), box), scale=scale)
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=bool(selector), **options)["data"])


def pixels(png):
    """Width, height and rows of (r, g, b) of a PNG of eight bits a channel."""
    at, data, channels = 8, b"", 3
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, _, colours = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[colours]
        if kind == b"IDAT":
            data += body
        at += size + 12
    raw, stride, rows, before = zlib.decompress(data), width * channels, [], bytearray(width * channels)
    for y in range(height):
        filter_, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - channels] if i >= channels else 0
            up, corner = before[i], before[i - channels] if i >= channels else 0
            if filter_ == 1:
                row[i] = (row[i] + left) & 255
            elif filter_ == 2:
                row[i] = (row[i] + up) & 255
            elif filter_ == 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            elif filter_ == 4:
                guess = left + up - corner
                a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
                row[i] = (row[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, stride, channels)])
        before = row
    return width, height, rows
