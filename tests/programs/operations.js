// SPDX-License-Identifier: MIT
//
// a_1 calls b_1, which calls c_1, which does a little of all that programs do,
// so that V8's builtins and bytecode handlers run in all their parts.
//     node operations.js SECONDS
// SECONDS are of CPU time.  Runs in: tests.
'use strict';

const seconds = Number(process.argv[2]);

class Pair {
  constructor(v) { this.v = v; this._w = 1; }
  get w() { return this._w; }
  set w(x) { this._w = x; }
  add(a, b) { return a + b; }
  static same(a) { return a; }
}

function* three() {
  for (let i = 0; i < 3; i++)
    yield i;
}

var told = 1;
globalThis.shared = 3;

function c_1(k) {
  const o = { a: 1, b: 2, c: { d: 3 } }, list = [1, 2, 3, 4];
  const pair = new Pair(3), floats = new Float64Array(8);
  const map = new Map([[1, 2]]);
  const first = function (a, b, c) { return a; };
  let s = 1, text = 'x', d = 1.5, big = 10n;
  for (let i = 0; i < k; i++) {
    s = (s * 31 + i) | 0;
    o.a = s; s += o.b + o.c.d; o['b'] = i & 3; o[i % 3] = i;
    list[i & 3] = s; s ^= list[(i + 1) & 3];
    d = d * 1.0001 + 0.5; floats[i & 7] = d; d -= floats[(i + 3) & 7] * 0.1;
    if (d > 1e9) d = 1;
    s += told; told = s & 7; s += shared;
    s += pair.v; pair.w = s; s ^= pair.w; s += pair.add(1, 2);
    s += Pair.same(3);
    first(1, 2, 3); first(); first.call(null, 1);
    if (typeof s === 'number' && s !== undefined && o instanceof Object) s++;
    const u = { x: i, y: [i, s, d] }, { x } = u; s ^= x;
    text = 'a' + (i & 7);
    if (text === 'a3') s++;
    if (text < 'a5') s--;
    switch (i & 7) {
      case 0: s += 1; break;
      case 1: s += 2; break;
      case 5: s -= 4; break;
      default: s ^= 5;
    }
    try { if ((i & 63) === 0) throw s; } catch (e) { s ^= e; } finally { s++; }
    if ((i & 15) === 0) {
      for (const q of list) s ^= q;
      for (const key in u) s += key.length;
      for (const g of three()) s += g;
      s += Math.max(...list);
    }
    const closure = () => s + i;
    s = closure() | 0;
    s += i % 3 ? Math.floor(d) & 3 : -s & 1; s = ~s; s = !s ? 1 : s;
    s <<= 1; s >>>= 1; s = s ** 2 % 1000 | 0;
    delete u.x; s += void 0 ?? 1; s += o?.a & 1; s += map.get(1);
    big += 1n;
    if (big > 1000n) big = 1n;
    s += `${i}x`.length; s |= 0;
  }
  return s;
}

function b_1(k) { return c_1(k) + 1; }

function a_1(k) { return b_1(k) + 1; }

const end = process.cpuUsage().user + seconds * 1e6;
let sum = 0;
while (process.cpuUsage().user < end)
  sum ^= a_1(3000);
console.log(typeof sum === 'number' ? 'done' : '');
