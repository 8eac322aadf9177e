// SPDX-License-Identifier: MIT
// Code that comes and goes: every f_N is called from its g_N alone, every g_N
// from its h_N, every h_N from `driver`; what is dropped is collected, and its
// memory used again.
// Runs in: tests, by node --expose-gc --no-turbo-inlining.
'use strict';
const rounds = Number(process.argv[2] || 60), kept = [];
function make(n) {
  return new Function(`
    function f_${n}(x) { let z = ${n};
      for (let i = 0; i < 300; i++) z = (z * 31 + i ^ x) | 0; return z; }
    function g_${n}(x) { let z = 0;
      for (let i = 0; i < 100; i++) z = (z + f_${n}(x + i)) | 0; return z; }
    function h_${n}(x) { return g_${n}(x) + 1 | 0; }
    return h_${n};`)();
}
function driver(h) { let z = 0; for (let i = 0; i < 120; i++) z ^= h(i);
  return z; }
let sum = 0;
for (let round = 0; round < rounds; round++) {
  for (let i = 0; i < 5; i++) {
    kept[i] = make(round * 5 + i);
    sum ^= driver(kept[i]);
  }
  if (round % 4 === 3) { kept.length = 0; globalThis.gc(); }
}
console.log(typeof sum);
