// SPDX-License-Identifier: MIT
//
// A JavaScript program with named functions for scripts/demo to profile: it
// counts prime numbers, sorts records and matches strings, each for a while.
// Runs in: node, under jprof.
'use strict';

function isPrime(n) {
  for (let d = 2; d * d <= n; d++) {
    if (n % d === 0) {
      return false;
    }
  }
  return n > 1;
}

function countPrimes(limit) {
  let count = 0;
  for (let n = 0; n < limit; n++) {
    if (isPrime(n)) {
      count++;
    }
  }
  return count;
}

function makeRecords(count) {
  const records = [];
  let seed = 1;
  for (let i = 0; i < count; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    records.push({ key: seed, name: 'record ' + seed.toString(36) });
  }
  return records;
}

function compareRecords(a, b) {
  return a.key - b.key;
}

function sortRecords(count) {
  return makeRecords(count).sort(compareRecords)[0].name;
}

function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}

function matchStrings(rounds) {
  let sum = 0;
  for (let i = 0; i < rounds; i++) {
    sum += editDistance('the quick brown fox ' + i, 'a lazy dog jumps ' + i);
  }
  return sum;
}

function main() {
  const end = Date.now() + 3000;
  let rounds = 0;
  let result = 0;
  while (Date.now() < end) {
    result += countPrimes(100000);
    result += sortRecords(20000).length;
    result += matchStrings(1000);
    rounds++;
  }
  console.log(`${rounds} rounds, result ${result}`);
}

main();
