// SPDX-License-Identifier: MIT
//
// A server that compiles a template for each page, renders it for a while and
// drops it; it asks itself for the pages.
//     node templates.js SECONDS LIST
// SECONDS are of CPU time.  Writes to LIST, for each template, `N START END`: the
// times (CLOCK_MONOTONIC, ns) between which it was there.  Template N is a
// function page_N of a file page_N.js, in line 2 + N % 30; it calls row_N, in the
// line after that.
// Runs in: tests.
'use strict';

const fs = require('fs');
const http = require('http');
const vm = require('vm');

const [seconds, list] = process.argv.slice(2);
const now = () => process.hrtime.bigint();
const lines = [];
const items = Array.from({ length: 200 }, (_, i) => ({ a: i, b: 'x' + i }));

function compile(n) {
  const text = '\n'.repeat(1 + n % 30) +
    `return function page_${n}(items) { let out = 0;
    function row_${n}(item) { let s = ${n};
        for (let i = 0; i < 60; i++) s = (s * 31 + (item.a ^ i)) | 0;
        ${'s = (s + 7) | 0;'.repeat(n % 20)}
        return s; }
      for (const item of items) out ^= row_${n}(item);
      return out; };`;
  return vm.runInThisContext(`(function () {${text}\n})`,
                             { filename: `page_${n}.js` })();
}

function serve(n) {
  const start = now();
  const page = compile(n);
  const stop = process.cpuUsage().user + 8000;
  let sum = 0;
  while (process.cpuUsage().user < stop)
    sum ^= page(items);
  lines.push(`${n} ${start} ${now()}\n`);
  return String(sum);
}

const server = http.createServer((request, response) => {
  response.end(serve(Number(request.url.slice(1))));
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const agent = new http.Agent({ keepAlive: true });
  const used = () => process.cpuUsage().user / 1e6;
  const ask = (n) => {
    if (used() > seconds) {
      fs.writeFileSync(list, lines.join(''));
      agent.destroy();
      server.close(() => console.log('done'));
      return;
    }
    http.get({ host: '127.0.0.1', port, agent, path: `/${n}` }, (response) => {
      response.resume();
      response.on('end', () => ask(n + 1));
    });
  };
  ask(1);
});
