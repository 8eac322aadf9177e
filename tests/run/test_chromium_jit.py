# SPDX-License-Identifier: MIT
"""Chromium's JavaScript: functions that a page makes and drops, by name.

Runs in: tests; skipped where there is no Chromium."""
import collections
import os
import subprocess
import unittest

import generations
from jprun import BUILD, HANG_SECONDS, Case, need

LAUNCHER = os.path.join(BUILD, "jprof")
# Chains as generations.js makes them; the page has no clock of the machine's.
PAGE = """<html><body><script>
function make(n) {
  const more = 's = (s + 7) | 0;'.repeat(n % 40);
  return (0, eval)(`(function a_${n}(k) {
    function b_${n}(k) {
      function c_${n}(k) {
        let s = ${n};
        for (let i = 0; i < k; i++) {
          s = (s * 31 + i ^ (s >>> ${1 + n % 7})) | 0;
          ${more}
        }
        return s;
      }
      return c_${n}(k) + 1;
    }
    return b_${n}(k) + 1;
  })`);
}
let sum = 0;
for (let n = 1; n < 300; n++) {
  const first = make(n);
  for (let i = 0; i < 12; i++) sum ^= first(20000);
  if (n % 25 === 0 && globalThis.gc) gc();
}
document.title = 'ended';
</script></body></html>
"""


class Chromium(Case):
    def browse(self, *flags):
        """Shows the page; the weights of samples with chains that can be, and
        with others, and of JIT code without a name."""
        chromium = need("chromium")
        with open(self.path("page.html"), "w", encoding="utf-8") as target:
            target.write(PAGE)
        done = subprocess.run(
            [LAUNCHER, "-o", "out", chromium, "--headless", "--no-sandbox",
             "--disable-gpu", "--user-data-dir=" + self.path("data"),
             "--js-flags=--expose-gc " + " ".join(flags), "--dump-dom",
             "--virtual-time-budget=60000",
             "file://" + self.path("page.html")],
            cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            env=self.environment(None, None, {"HOME": self.dir}),
            stderr=subprocess.PIPE, timeout=2 * HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.assertIn(b"<title>ended</title>", done.stdout)
        weights, wrong = collections.Counter(), []
        for name in os.listdir(self.path("out")):
            if not name.startswith("jprof-log") or "." in name:
                continue
            for sample in generations.samples(self.path("out/" + name)):
                self.count(sample, weights, wrong)
        self.assertGreater(weights["right"], 0.1e9, weights)
        self.assertLessEqual(weights["wrong"], 0.001 * weights["right"],
                             wrong[:5])
        return weights

    @staticmethod
    def count(sample, weights, wrong):
        links = [link for link in
                 map(generations.LINK.match, sample.frames) if link]
        letters = [link[2] for link in links]
        for frame in sample.frames:
            weights["named"] += frame[0] == "J"
            weights["bare"] += frame.startswith("u[jit]")
        if not links:
            return
        fits = (len({link[3] for link in links}) == 1 and
                letters == sorted(set(letters)))
        weights["right" if fits else "wrong"] += sample.weight
        if not fits:
            wrong.append([link[0] for link in links])

    def test_map(self):
        self.browse("--perf-basic-prof")

    def test_map_with_native_stack(self):
        weights = self.browse("--perf-basic-prof",
                              "--interpreted-frames-native-stack")
        self.assertLessEqual(weights["bare"], 0.001 * weights["named"],
                             weights)


if __name__ == "__main__":
    unittest.main()
