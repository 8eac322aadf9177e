# SPDX-License-Identifier: MIT
"""Java with threads and collections, and a cluster of Node's processes under
load, told to end in order.
Runs in: tests."""

import re
import signal

from stage import Program, free_port

JAVA = """
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Work {
    static long sum(int seed) {
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < 120000; i++)
            seen.merge("k" + (i * 31L + seed) % 5003, i % 7, Integer::sum);
        return seen.values().stream().mapToLong(Integer::longValue).sum();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> parts = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            final int seed = i;
            parts.add(pool.submit(() -> sum(seed)));
        }
        for (Future<Long> part : parts)
            System.out.println(part.get());
        pool.shutdown();
        System.out.println(IntStream.range(0, 300000).parallel().mapToObj(
            Integer::toHexString).filter(s -> s.contains("ab")).count());
        Process child = new ProcessBuilder("sh", "-c", "echo child; exit 4")
            .inheritIO().start();
        System.out.println(child.waitFor());
        try {
            sum(((Integer) null));
        } catch (NullPointerException error) {
            System.out.println("caught");
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() ->
            System.out.println("end")));
        System.exit(6);
    }
}
"""
CLUSTER = """
const cluster = require('cluster'), http = require('http');
const crypto = require('crypto');
if (cluster.isPrimary) {
    const left = new Set();
    for (let i = 0; i < 3; i++) left.add(cluster.fork().id);
    cluster.on('exit', (worker, code, signal) => {
        console.log('exit', code, signal);
        left.delete(worker.id);
        if (left.size === 0) process.exit(9);
    });
    let up = 0;
    cluster.on('listening', () => { if (++up === 3) console.log('ready'); });
    process.on('SIGTERM', () => {
        for (const id in cluster.workers)
            cluster.workers[id].send('end');
    });
} else {
    const server = http.createServer((request, response) => {
        let hash = crypto.createHash('sha256').update(request.url);
        for (let i = 0; i < 40; i++)
            hash = crypto.createHash('sha256').update(hash.digest('hex') + i);
        response.end(hash.digest('hex'));
    });
    server.listen(+process.argv[2], '127.0.0.1');
    process.on('message', () => {
        server.close(() => process.exit(2));
        server.closeAllConnections();
    });
}
"""


class Java(Program):
    """A program of many threads."""

    name, package = "java", "openjdk-17-jdk-headless"
    commands = ("java", "javac")

    def run(self, stage):
        """Returns {what: result}."""
        stage.write("Work.java", JAVA)
        compiled = stage.run("javac", "-J-XX:+PreserveFramePointer",
                             "Work.java")
        done = stage.run("java", "-XX:+PreserveFramePointer", "-Xmx256m",
                         "-cp", stage.folder, "Work")
        return {"compiler": str(compiled), "run": str(done)}


class Node(Program):
    """A cluster of workers."""

    name, package = "node", "nodejs apache2-utils"
    commands = ("node", "ab")

    def run(self, stage):
        """Returns {what: result}."""
        port = free_port()
        server = stage.start("node", stage.write("cluster.js", CLUSTER),
                             str(port), name="cluster")
        stage.until(lambda: "ready" in stage.read("cluster.out"), "the cluster")
        done = stage.run("ab", "-q", "-n", "6000", "-c", "12",
                         f"http://127.0.0.1:{port}/some/path")
        kept = [line for line in done.out.splitlines() if re.match(
            "Complete requests|Failed requests|Non-2xx|HTML transferred",
            line)]
        server.send_signal(signal.SIGTERM)
        return {"load": f"{done.status} {kept} {done.err}",
                "status": str(stage.wait(server, "the cluster")),
                "output": stage.read("cluster.out") + stage.read("cluster.err")}


JAVA_WORK, NODE_CLUSTER = Java(), Node()
