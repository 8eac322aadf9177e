# SPDX-License-Identifier: MIT
"""The report's page with hostile names, hostile addresses and damaged data,
and whom it leaves out: colours, narrow screens, keyboards.

Runs in: tests.  Without a Chromium the tests are skipped by name."""
import json
import random
import re
import unittest
from urllib.parse import quote

from test_page import READY, InBrowser
import pack

NASTY = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>",
         "__proto__", "constructor", "\u202egpj.exe\u2066", "a\x1b[31mb",
         "x" * 300000, "<!--", "'\"><b>", "operator<", "f(((((<<<<",
         "{lambda(", "javascript:alert(3)")
LOG = "header pid=7 start=9 map=jprof-map period=4000000 clock=2 command=%s"
ADDRESSES = ("", "v=../../x", "v=constructor", "q=%00%ff", "q=/(a%2B)%2B$/",
             "q=/[/", "t=1e9-2e9", "t=-1--5", "t=5-1", "th=99999999",
             "p=-1", "o=__proto__", "o=h999999", "o=q", "f=NaN",
             "z=" + "1." * 9000, "q=<img src=x onerror=alert(1)>",
             "o=q<script>alert(1)</script>", "c=2&up=x&sort=__proto__",
             "&".join("o=h1" for _ in range(5000)), "%", "%E0%A4%A",
             "b=0-1&t=0-0.000001", "s=4&e=9", "v=code&f=0", "v=function")
CONTRAST = """(() => {
    const light = (text) => {
        const c = document.createElement('canvas').getContext('2d');
        c.fillStyle = text; c.fillRect(0, 0, 1, 1);
        return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) =>
            (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    };
    const ratio = (a, b) => { const [x, y] = [light(a), light(b)]
        .sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    const wrong = [], c = jprof.colours;
    const need = (what, a, b, least) => { const got = ratio(a, b);
        if (got < least) wrong.push(`${what}: ${got.toFixed(2)}`); };
    c.kinds.concat(c.more, c.less, c.same).forEach((one, i) => {
        need('box ' + i, one, c.ground, 3);
        need('box text ' + i, one, c.boxText, 4.5); });
    need('root', c.root, c.rootText, 4.5); need('root', c.root, c.ground, 3);
    need('dim', c.dim, c.dimText, 4.5); need('dim', c.dim, c.ground, 3);
    for (const one of ['running', 'blocked', 'found', 'mark', 'span'])
        need(one, c[one], c.panel, 3);
    for (const one of ['running', 'blocked'])
        need('found on ' + one, c.found, c[one], 3);
    for (const one of ['text', 'mark'])
        need('axis ' + one, c[one], c.panel, 4.5);
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const of = getComputedStyle(element).backgroundColor;
            if (!/^rgba.*, 0\\)$/.test(of)) return of;
        } return c.ground; };
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].some((node) =>
            node.nodeType === 3 && node.data.trim());
        if (own && element.getClientRects().length
                && !['SCRIPT', 'STYLE'].includes(element.tagName))
            need(element.tagName + '.' + element.className,
                getComputedStyle(element).color, ground(element), 4.5);
    }
    return [...new Set(wrong)]; })()"""
ELEMENTS = """[...new Set([...document.querySelectorAll('*')].map((one) =>
    one.tagName.toLowerCase()))].sort()"""
FOREIGN = {"img", "iframe", "object", "embed", "link", "base", "form"}


class Safety(InBrowser):
    def write_nasty(self, names=NASTY):
        """A page whose functions, threads and command have hostile names."""
        with open(self.path("names"), "wb") as target:
            for n, name in enumerate(names):
                target.write(b"%x 10 %s\n" % (0x10000 + 16 * n,
                                              name.encode()))
            target.write(b"20000 10 nul\0inside\n")
            size = target.tell()
        nasty = NASTY[0].replace(" ", "\\x20")
        with open(self.path("jprof-map"), "w", encoding="utf-8") as target:
            target.write(
                "1 jprof-map version=1 pid=7 start=9\n"
                "1 process pid=7 ppid=1 exe=/bin/%s cmdline=%s%%00\n"
                "1 anon start=0 end=ffffffffffffffff\n"
                "1 perfmap path=/x dev=0:1 inode=1 size=%d saved=names\n"
                "1 thread tid=11 name=%s\n" % (
                    "<b>", nasty, size, nasty))
        lines = ["header pid=7 start=9 map=jprof-map period=4000000 clock=2",
                 "chunk size=65536 pid=7 tid=11"]
        for n in range(len(names) + 1):
            address = 0x10000 + 16 * n if n < len(names) else 0x20000
            lines.append("stack id=s%d frames=%x,%x,%x" % (
                n, address + 1, 0x10000 + 16 * (n // 2) + 2, 0x10021))
            for time in range(3):
                lines.append("sample time=%d tid=11 weight=4000000 event=cpu "
                             "stack=s%d" % (1000000 * (n + 20 * time + 1), n))
        text = re.sub(r"frames=(\S+)", lambda found: "frames=" + ",".join(
            "0x" + one for one in found.group(1).split(",")),
                      "\n".join(lines))
        with open(self.path("jprof-log"), "wb") as target:
            target.write(pack.pack(text))
        return self.write_page(self.path("jprof-log"))

    def visit(self):
        """Every view, with a function chosen, then the process alone."""
        self.assertEqual(self.browser.run("jprof.profile.names.length"),
                         len(NASTY) + 1)
        for view in self.browser.run("VIEWS"):
            for fn in range(0, len(NASTY), 4):
                self.browser.run("jprof.change({view: '%s', fn: %d})"
                                 % (view, fn))
        self.browser.run("jprof.views.flame.choose(3)")
        self.browser.run("jprof.change({process: 0})")
        # The command is nasty as well.
        self.assertEqual(self.browser.run(
            "document.querySelector('.chip').title.slice(0, 20)"),
            NASTY[0][:20])

    def test_hostile_names(self):
        page = self.write_nasty()
        for width, dark in ((1400, False), (390, True)):
            self.browser.resize(width, 800, dark)
            self.browser.open(page, READY)
            self.visit()
            self.check_quiet()
            self.assertFalse(set(self.browser.run(ELEMENTS)) & FOREIGN)
            self.assertEqual(self.browser.run("Object.keys({}).length"), 0)
            self.assertEqual(self.browser.run(
                "document.querySelectorAll('script:not([type])').length"), 1)
        shown = self.browser.run("document.body.textContent")
        self.assertNotRegex(shown, "[\u202a-\u202e\u2066-\u2069\x1b]")
        self.browser.resize(1400, 900)

    def test_hostile_addresses(self):
        page = self.write_nasty()
        for address in ADDRESSES:
            with self.subTest(address=address[:80]):
                self.browser.open(page + "#" + address, READY)
                self.check_quiet()
                self.assertGreater(self.browser.run(
                    "jprof.model.sums(jprof.state).whole + 1"), 0)
                state = self.browser.run("writeState(jprof.state)")
                self.assertEqual(self.browser.run(
                    "writeState(readState(jprof.profile, %s))"
                    % json.dumps(state)), state)
                self.assertFalse(set(self.browser.run(ELEMENTS)) & FOREIGN)

    def test_patterns(self):
        """No pattern in an address holds the page up for ever: those that may
        are refused, others find what they should."""
        page = self.write_nasty()
        never = ("/x*x*x*x*y/", "/.*.*.*.*.*.*~/", "/(x+)+y/", "/(x)\\1*y/",
                 "/" + "x?" * 60 + "~/", "/" + "(?:x|x)" * 25 + "~/",
                 "/x{1,999}x{1,999}x{1,999}x{1,999}y/")
        for number, text in enumerate(never + (
                "/x*x*x*y/", "/[)*]~/", "/f\\(*$/", "/^__.*to.*__$/",
                "/ator<|lamb?da/")):
            with self.subTest(text=text):
                self.browser.open(page, READY)
                self.browser.open(page + "#q=" + quote(text), READY)
                self.check_quiet()
                self.assertEqual(self.browser.run(
                    "matcher(jprof.state.search) === null"),
                                 number < len(never))
        self.assertEqual(self.browser.run(
            "jprof.profile.names.filter(matcher(jprof.state.search)).sort()"),
                         ["operator<", "{lambda("])
        self.assertEqual(self.browser.run(
            "jprof.profile.names.filter(matcher('/^__.*to.*__$/'))"),
                         ["__proto__"])

    def test_flipped_bytes(self):
        """A flipped bit anywhere in the data leaves tables and a sentence."""
        page = self.write_nasty()
        with open(page, "rb") as source:
            whole = source.read()
        random_ = random.Random(3)
        places = []
        for block in (b"core", b"samples"):
            start = whole.index(b'id="jprof-%s">' % block) + len(block) + 11
            end = whole.index(b"<", start)
            places += range(start, start + 12)
            places += range(end - 16, end)      # the stream's end is here
            places += [random_.randrange(start, end) for _ in range(12)]
        for place in places:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << random_.randrange(6)
            if damaged[place] in b"<\0":
                damaged[place] = ord("#")
            with open(self.path("damaged.html"), "wb") as target:
                target.write(damaged)
            with self.subTest(place=place, byte=chr(damaged[place])):
                self.browser.open(
                    self.path("damaged.html"), READY + " || document."
                    "getElementById('lack').textContent.includes('damaged')")
                self.assertTrue(self.browser.run(
                    "document.getElementById('app').hidden"))
                self.assertGreater(self.browser.run(
                    "document.querySelector('.flat').offsetHeight"), 50)
                self.check_quiet()

    def test_damage_behind_the_checksum(self):
        """Numbers out of bounds in data whose checksum is right."""
        page = self.write_nasty()
        self.browser.open(page, READY)
        for script in (
                "openBlock(new Uint8Array(3))",
                "column({bytes: new Uint8Array([9]), places: new Map([['x', "
                "{at: 0, count: 1, width: 1}]])}, 'x', 9)",
                "fromSteps(new Uint32Array([1]), 5, 'x')",
                "checkThreads([{process: 1, tid: 1, samples: 1, name: ''}], "
                "1, 1)",
                "checkThreads([{process: 0, tid: 1, samples: 2, name: ''}], "
                "1, 1)", "fromBase64('AAA')"):
            self.assertEqual(self.browser.run(
                "(() => { try { %s; return 'read'; } catch (error) { return "
                "error instanceof Damage ? 'damage' : String(error); } })()"
                % script), "damage", script)

    def test_short_names(self):
        """Short names are those of analyzer/symbol/names/short.c, whose test
        has more; the names themselves stay whole."""
        short = {
            "std::vector<int, std::allocator<int> >::push_back(int&&)":
                "std::vector<\u2026>::push_back",
            "void a::f<b::c<1> >(int (*)(d<e>), g) const": "a::f<\u2026>",
            "a::(anonymous namespace)::f(int)": "a::(anonymous namespace)::f",
            "sort (/home/x/y/server.js:4:23)": "sort (server.js:4:23)",
            "(anonymous) (app.js:1:1)": "(anonymous) (app.js:1:1)",
            "void \u00e9<\u00e9>(\u00e9)": "\u00e9<\u2026>",
            "f() const::{lambda(int)#1}::operator()(int) const":
                "f::{lambda(int)#1}::operator()",
            "main": "main", "f(((((": "f(((((", "<<<<": "<<<<",
            "\u0001a\u0003b<c>": "\ufffda\ufffdb<\u2026>",
            "g<%s>(int)" % ("x" * 3000): "g<\u2026>",
            "%s(int)" % ("y" * 300): "\u2026" + "y" * 160}
        self.browser.open(self.write_nasty(tuple(short)), READY)
        found = dict(self.browser.run(
            "jprof.profile.names.map((name, fn) => [name, "
            "shortName(jprof.profile, fn)])"))
        for name, form in short.items():
            name = re.sub("[\x01-\x03]", "\ufffd", name)
            self.assertEqual(found.get(name), form, name[:80])
        for name, most, part in (
                ("sort (server.js:4:23)", 21, "sort (server.js:4:23)"),
                ("sort (server.js:4:23)", 20, "sort"),
                ("sort (server.js:4:23)", 3, "so\u2026"),
                ("(anonymous) (app.js:10:1)", 14, "\u2026(app.js:10:1)"),
                ("a::bc::def (inlined)", 7, "\u2026c::def")):
            self.assertEqual(self.browser.run(
                "fitting(%s, %d)" % (json.dumps(name), most)), part)

    def test_without_script(self):
        page = self.write_nasty()
        with open(page, encoding="utf-8") as source:
            text = source.read()
        self.assertIn("default-src 'none'", text)
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.open(page, "document.querySelector('.hier')")
            self.assertGreater(self.browser.run(
                "document.querySelector('.hier').offsetHeight"), 50)
            self.assertIn("need JavaScript", self.browser.run(
                "document.getElementById('lack').textContent"))
            for link in self.browser.run(
                    "[...document.querySelectorAll('#plain a')].map((one) => "
                    "one.getAttribute('href'))"):
                self.assertEqual(text.count('id="%s"' % link[1:]), 1)
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled",
                              value=False)

    def test_contrast_and_width(self):
        page = self.write_nasty()
        for width in (1400, 390):
            for dark in (False, True):
                self.browser.resize(width, 844, dark)
                self.browser.open(page, READY)
                for view in self.browser.run("VIEWS"):
                    self.browser.run("jprof.change({view: '%s', fn: 3, "
                                     "search: 'a'})" % view)
                    with self.subTest(width=width, dark=dark, view=view):
                        self.assertEqual(self.browser.run(CONTRAST), [])
                        self.assertLessEqual(self.browser.run(
                            "document.documentElement.scrollWidth"), width)
                self.browser.run("document.querySelectorAll('details')"
                                 ".forEach((one) => { one.open = true; })")
                self.assertLessEqual(self.browser.run(
                    "document.documentElement.scrollWidth"), width)
        self.browser.resize(1400, 900)

    def test_keyboard(self):
        """Each view, and each control, is reached without a mouse."""
        self.browser.open(self.write_nasty(), READY)
        for number, view in enumerate(self.browser.run("VIEWS"), 1):
            self.browser.key(str(number))
            self.assertEqual(self.browser.run("jprof.state.view"), view)
            self.assertTrue(self.browser.run(
                "document.querySelector('.body').contains("
                "document.activeElement)"))
            self.assertEqual(self.browser.run(
                "document.querySelectorAll('[role=tab][tabindex=\"0\"]:not("
                "[hidden])').length"), 1)
        self.browser.key("4")
        for key in ("ArrowDown", "Enter"):
            self.browser.key(key)
        self.assertEqual(self.browser.run("jprof.state.view"), "function")
        self.assertTrue(self.browser.run("document.querySelector('.body')"
                                         ".contains(document.activeElement)"))
        self.browser.key("2")
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            self.browser.key(key)
        self.assertGreaterEqual(self.browser.run("jprof.state.fn"), 0)
        self.browser.key("1")
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            self.browser.key(key)
        self.assertEqual(self.browser.run("jprof.state.zoom.length"), 2)
        self.browser.key("Escape")
        self.browser.wait("jprof.state.zoom.length === 0")
        self.browser.key("/")
        for letter in "__p":
            self.browser.key(letter)
        self.assertEqual(self.browser.run("jprof.state.search"), "__p")
        self.browser.key("Escape")
        reached = set()
        for _ in range(60):
            self.browser.key("Tab")
            reached.add(self.browser.run(
                "document.activeElement.className || "
                "document.activeElement.textContent"))
        for wanted in ("rows", "Only matches", "Back", "Hide", "link"):
            self.assertIn(wanted, reached)



if __name__ == "__main__":
    unittest.main()
