# SPDX-License-Identifier: MIT
"""A stub of the servers that `jprof push` sends to, with the published rules of
Pyroscope's POST /ingest and Parca's POST /api/profiles/writeraw: no such server
runs in the tests.

Runs in: tests.  What a request breaks a rule with is its answer, 400 or 422,
and stands in Server.broken."""
import base64
import gzip
import http.server
import json
import re
import threading
import urllib.parse

import exports

BYTES_MAX = 4 << 20     # before gzip
SAMPLES_MAX = 16000
DEPTH_MAX = 1000
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.]*$")


def want(condition, what, *details):
    if not condition:
        raise exports.Wrong(what % details)


class Profile:
    """A gzipped pprof profile that was sent, checked."""

    def __init__(self, data):
        want(data[:2] == b"\x1f\x8b", "the profile is not gzipped")
        plain = gzip.decompress(data)
        want(len(plain) <= BYTES_MAX, "%d bytes", len(plain))
        top = exports.message(plain)
        self.strings = [text.decode("utf-8") for text in top[6]]
        want(self.strings[:1] == [""], "the first string is not empty")
        self.types = [self.text(exports.one(exports.message(kind), 1))
                      for kind in top[1]]
        self.units = [self.text(exports.one(exports.message(kind), 2))
                      for kind in top[1]]
        self.time_ns = exports.one(top, 9)
        self.duration_ns = exports.one(top, 10)
        self.functions = self.numbered(top[5])
        self.locations = self.numbered(top[4])
        self.mappings = self.numbered(top[3])
        self.sums = exports.Sums()
        want(top[2], "no sample")
        want(len(top[2]) <= SAMPLES_MAX, "%d samples", len(top[2]))
        for data in top[2]:
            self.sample(exports.message(data))

    def text(self, index):
        want(index < len(self.strings), "string %d is not there", index)
        return self.strings[index]

    def numbered(self, items):
        items = [exports.message(data) for data in items]
        for index, item in enumerate(items):
            want(exports.one(item, 1) == index + 1, "id %d is out of order",
                 exports.one(item, 1))
        return items

    def sample(self, found):
        ids = exports.packed(exports.one(found, 1) or b"")
        values = exports.packed(exports.one(found, 2))
        want(len(ids) <= DEPTH_MAX, "%d locations", len(ids))
        want(len(values) == len(self.types), "%d values", len(values))
        want(not found[3], "labels split series")
        names = []
        for location in ids:
            want(0 < location <= len(self.locations), "no such location")
            for line in self.locations[location - 1][4]:
                function = exports.one(exports.message(line), 1)
                want(0 < function <= len(self.functions), "no such function")
                names.append(self.text(exports.one(
                    self.functions[function - 1], 2)))
        self.sums.add(names, values[-1])


def of_form(body, kind):
    """{name: bytes} of a multipart body."""
    boundary = kind.split("boundary=")[1].encode()
    parts = {}
    want(body.endswith(b"--" + boundary + b"--\r\n"), "the form has no end")
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part[2:].partition(b"\r\n\r\n")
        name = re.search(rb'[; ]name="([^"]*)"', head).group(1).decode()
        parts[name] = data[:-2]
    return parts


class Sent:
    """What arrived: series as a name and labels, and a profile."""

    def __init__(self, name, labels, profile):
        self.name, self.labels, self.profile = name, labels, profile


def of_pyroscope(url, headers, body):
    query = urllib.parse.parse_qs(url.query, strict_parsing=True)
    found = re.match(r"([^{}]+)\{([^{}]*)\}$", query["name"][0])
    want(found, "name %s", query["name"][0])
    labels = dict(pair.split("=") for pair in found.group(2).split(",")
                  if pair)
    want(int(query["from"][0]) < int(query["until"][0]), "from after until")
    kind = headers["Content-Type"]
    config = {"samples": {}, "cpu": {}}     # what it knows of its own
    if kind.startswith("multipart/form-data"):
        want("format" not in query, "a form and a format")
        form = of_form(body, kind)
        body = form["profile"]
        config.update(json.loads(form.get("sample_type_config", b"{}")))
    else:
        want(query.get("format") == ["pprof"], "no format")
    profile = Profile(body)
    want(set(profile.types) <= set(config), "types %s", profile.types)
    want(abs(profile.time_ns // 10**9 - int(query["from"][0])) <= 1,
         "another time in the profile")
    return Sent(found.group(1), labels, profile)


def of_parca(_url, headers, body):
    want(headers["Content-Type"] == "application/json", "another type")
    top = json.loads(body)
    want(len(top["series"]) == 1, "%d series", len(top["series"]))
    series = top["series"][0]
    labels = {label["name"]: label["value"]
              for label in series["labels"]["labels"]}
    want("__name__" in labels, "no __name__")
    want("." not in "".join(labels), "a label with a .")
    want(len(series["samples"]) == 1, "samples")
    return Sent(labels.pop("__name__"), labels, Profile(base64.b64decode(
        series["samples"][0]["rawProfile"], validate=True)))


class Server:
    """Listens on loopback; `answers`: statuses given instead of looking at a
    request, first one first, each with a text."""
    PATHS = {"/ingest": of_pyroscope, "/api/profiles/writeraw": of_parca}

    def __init__(self):
        self.sent, self.broken, self.headers, self.answers = [], [], [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.take(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={"poll_interval": 0.05},
                                       daemon=True)
        self.thread.start()

    def take(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.headers.append(dict(request.headers))
        status, text = 200, ""
        if self.answers:
            status, text = self.answers.pop(0)
        else:
            try:
                self.look(request, body)
            except (exports.Wrong, KeyError, ValueError, IndexError) as error:
                status, text = 422, repr(error)
                self.broken.append(text)
        data = text.encode("latin-1", "replace")
        request.send_response(status)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def look(self, request, body):
        url = urllib.parse.urlsplit(request.path)
        want(url.path in self.PATHS, "no path %s", url.path)
        sent = self.PATHS[url.path](url, request.headers, body)
        for key, value in sent.labels.items():
            want(LABEL.match(key), "label %s", key)
            want(value, "label %s has no value", key)
        self.sent.append(sent)

    def total(self, kind):
        """The weights of a type, in ns."""
        return sum(sent.profile.sums.weight for sent in self.sent
                   if sent.profile.types[-1] == kind)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
