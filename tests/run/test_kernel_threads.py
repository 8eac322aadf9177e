# SPDX-License-Identifier: MIT
"""Threads of the process that run kernel code alone (io_uring's): they are
named with their CPU time, which samples need not cover.

Runs in: tests.  B names the build folder.
"""
import os
import re
import signal
import subprocess
import unittest

from jprun import BUILD, Case, program


class KernelThreads(Case):
    def run_beside(self, *arguments, status):
        """Returns the kernel threads' CPU time by the program's clocks, s."""
        done = self.run_program(program("kernel_threads"), *arguments,
                                flags="JP_START")
        if done.status == 77:
            self.skipTest("no io_uring here")
        self.assertEqual(done.status, status, done.err)
        return int(done.out) / 1e9

    def merged(self, form):
        return subprocess.run(
            [os.path.join(BUILD, "jprof-report"), "--merge",
             "--format=" + form, program("kernel_threads"), "jprof-log"],
            cwd=self.dir, capture_output=True, text=True, check=True).stdout

    def check(self, kernel_s, less_s):
        text = self.merged("summary")
        counted = float(re.search(r"cpu_kernel_threads_s: (\S+)", text)[1])
        self.assertGreater(counted, 0.3, text)
        self.assertLess(abs(counted - kernel_s), less_s, text)
        self.assertGreater(float(re.search(r"coverage: (\S+)", text)[1]), 0.9)
        self.assertNotIn("uncovered:", text)

    def test_named_with_their_time(self):
        kernel_s = self.run_beside("0.8", status=0)
        # (The program reads its clocks before its end.)
        self.check(kernel_s, 0.1)
        line = re.search(r"Coverage .*", self.merged("text"))[0]
        times = dict(re.findall(r"(iou-\w+) ([0-9.]+ m?s)", line))
        self.assertEqual(set(times), {"iou-sqp", "iou-wrk"}, line)
        self.assertIn("more in threads that run kernel code alone", line)

    def test_of_a_killed_process(self):
        kernel_s = self.run_beside("0.8", "killed", status=-signal.SIGKILL)
        self.check(kernel_s, 0.3)


if __name__ == "__main__":
    unittest.main()
