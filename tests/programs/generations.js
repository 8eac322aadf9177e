// Functions that are made, run for a while and dropped: one generation after
// the other, each a chain a_N -> b_N -> c_N with an N of its own.  Runs in: tests.
//
//   node [--expose-gc] generations.js SECONDS WAY LIST [workers|cluster]
//
// WAY: eval or func (new Function).  Writes to LIST, for each generation, `N
// START END`: the times (CLOCK_MONOTONIC, ns) between which it was there; with
// workers or cluster to LIST-ID, and each ID has numbers of its own.
'use strict';

const fs = require('fs');

const [seconds, way, list, how] = process.argv.slice(2);
const now = () => process.hrtime.bigint();

function make(n) {
  // Bodies of many sizes, so that addresses are used again by others' parts.
  const more = 's = (s + 7) | 0;'.repeat(n % 40);
  const text = `function a_${n}(k) {
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
  }`;
  return way === 'func' ? new Function(`${text}; return a_${n};`)()
                        : (0, eval)(`(${text})`);
}

function run(id) {
  const lines = [];
  const end = now() + BigInt(Math.round(seconds * 1e9));
  let sum = 0;
  for (let n = id * 1000000; now() < end; n++) {
    const start = now();
    const first = make(n);
    const stop = now() + 3000000n;
    for (let k = 2000; now() < stop; k = 20000)
      sum ^= first(k);
    lines.push(`${n} ${start} ${now()}\n`);
    if (n % 25 === 0 && globalThis.gc)
      gc();
  }
  fs.writeFileSync(how ? `${list}-${id}` : list, lines.join(''));
  return typeof sum;
}

function begin() {
  if (how === 'workers') {
    const { Worker, isMainThread, workerData } = require('worker_threads');
    if (!isMainThread)
      return run(workerData);
    for (let id = 1; id <= 3; id++)
      new Worker(__filename, { argv: process.argv.slice(2), workerData: id });
  } else if (how === 'cluster') {
    const cluster = require('cluster');
    if (!cluster.isPrimary) {
      run(cluster.worker.id);
      return process.exit(0);
    }
    cluster.fork();
    cluster.fork();
    return 'forked';
  }
  return run(0);
}

const what = begin();
if (what === 'number' && how !== 'workers' || what === 'forked')
  console.log('done');
