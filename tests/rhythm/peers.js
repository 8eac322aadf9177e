// SPDX-License-Identifier: MIT
/* Two functions that get 85 and 15% of the CPU time, in beats:
 *     node peers.js SECONDS BEATS_A_SECOND
 * without waits where BEATS_A_SECOND is 0.  Prints the CPU time of each in ms.
 * Runs in: tests. */
'use strict';

let sink = 0;

function turn(count) {
  let value = count | 1;
  for (let i = 0; i < count; i++)
    value = (Math.imul(value, 1103515245) + 12345) | 0;
  return value;
}

function first(rounds) {
  for (let i = 0; i < 85 * rounds; i++)
    sink ^= turn(2000 + i);
}

function second(rounds) {
  for (let i = 0; i < 15 * rounds; i++)
    sink ^= turn(2000 + i);
}

const distance = 1000 / Number(process.argv[3]);
const end = performance.now() + 1000 * Number(process.argv[2]);
const used = [0, 0];
let next = performance.now();

function cpu() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1000;
}

function work() {
  const begin = cpu();
  first(4);
  const middle = cpu();
  second(4);
  used[0] += middle - begin;
  used[1] += cpu() - middle;
}

function beat() {
  work();
  if (performance.now() > end) {
    print();
    return;
  }
  next = Math.max(next + distance, performance.now());
  setTimeout(beat, next - performance.now());
}

function print() {
  console.log(
      'first ' + used[0].toFixed(3) + '\nsecond ' + used[1].toFixed(3));
}

if (Number(process.argv[3]) > 0) {
  beat();
} else {
  while (performance.now() < end)
    work();
  print();
}
