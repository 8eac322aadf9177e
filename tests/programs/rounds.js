// SPDX-License-Identifier: MIT
//
// Makes functions that differ in a number alone, runs them and drops them:
//     node rounds.js SECONDS ROUNDS
// In each round, of so many seconds of CPU time, others, which stay until it is
// over: it prints the round's number and waits for a byte.
// Runs in: tests.
'use strict';
const fs = require('fs');
const [seconds, rounds] = process.argv.slice(2).map(Number);
const byte = Buffer.alloc(1);
let sum = 0;
for (let round = 0; round < rounds; round++) {
  if (typeof gc === 'function') gc();
  const made = [];
  for (let i = 0; i < 6; i++) {
    const k = round * 1000 + i * 10 + 7;
    made.push(new Function('n', `let z = ${k};
      for (let i = 0; i < n; i++) z = (z * 31 + (i ^ ${k})) | 0;
      return z;`));
  }
  const end = process.cpuUsage().user + seconds * 1e6;
  while (process.cpuUsage().user < end)
    for (const f of made)
      for (let j = 0; j < 20; j++) sum = (sum + f(400)) | 0;
  fs.writeSync(1, round + '\n');
  fs.readSync(0, byte);
}
