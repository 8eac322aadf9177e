// SPDX-License-Identifier: MIT
// Reads the page's blocks of data (write/page/pack.h has their layout) and
// checks every length and number before it is used.

class Damage extends Error {}

function demand(condition, what) {
    if (!condition)
        throw new Damage(what);
}

function fromBase64(text) {
    demand(text.length % 4 === 0 && text.length > 0, 'length of base64');
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text, {lastChunkHandling: 'strict'});
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);

    for (let i = 0; i < bytes.length; i++)
        bytes[i] = letters.charCodeAt(i);
    return bytes;
}

const PACK_HEAD = 8;

// FNV-1a over words of four bytes, the least one first.
function checksum(packed, end) {
    const whole = (end - PACK_HEAD) >>> 2;
    const words = new Uint32Array(packed.buffer, PACK_HEAD, whole);
    let sum = 2166136261, last = 0;

    for (let i = 0; i < whole; i++)
        sum = Math.imul(sum ^ words[i], 16777619);
    for (let i = PACK_HEAD + 4 * whole; i < end; i++)
        last |= packed[i] << 8 * (i - PACK_HEAD - 4 * whole);
    if ((end - PACK_HEAD) % 4 !== 0)
        sum = Math.imul(sum ^ last, 16777619);
    return sum >>> 0;
}

// What a zlib stream holds.
async function inflate(squeezed) {
    const {writable, readable} = new DecompressionStream('deflate');
    const writer = writable.getWriter();
    const [bytes] = await Promise.all([new Response(readable).arrayBuffer(),
        writer.write(squeezed), writer.close()]);

    return new Uint8Array(bytes);
}

// The block of that name: its head and its columns.
async function readBlock(name) {
    const element = document.getElementById('jprof-' + name);

    demand(element, 'no block ' + name);
    const packed = fromBase64(element.textContent);

    demand(packed.length >= PACK_HEAD, 'length of block');
    const view = new DataView(packed.buffer);
    const end = PACK_HEAD + view.getUint32(0, true);

    demand(end <= packed.length && packed.length - end < 3,
        'length of block');
    for (let i = end; i < packed.length; i++)
        demand(packed[i] === 0, 'end of block');
    const squeezed = packed.subarray(PACK_HEAD, end);

    demand(checksum(packed, end) === view.getUint32(4, true), 'checksum');
    const bytes = await inflate(squeezed);

    element.remove();
    return openBlock(bytes);
}

function openBlock(bytes) {
    demand(bytes.length >= 4, 'block too short');
    const length = new DataView(bytes.buffer).getUint32(0, true);

    demand(length <= bytes.length - 4, 'length of head');
    const head = JSON.parse(new TextDecoder('utf-8', {fatal: true})
        .decode(bytes.subarray(4, 4 + length)));
    const places = new Map();
    let at = 4 + length;

    demand(head.format === 1 && Array.isArray(head.columns), 'format');
    for (const {name, count, bytes: width} of head.columns) {
        demand(isCount(count) && isCount(width) && width >= 1 && width <= 6
            && typeof name === 'string', 'column');
        places.set(name, {at, count, width});
        at += count * width;
        demand(at <= bytes.length, 'column past the end');
    }
    demand(at === bytes.length, 'bytes behind the columns');
    return {head, bytes, places};
}

function isCount(value) {
    return Number.isSafeInteger(value) && value >= 0;
}

// Joins the planes of a column; returns the greatest number.  Passes over long
// columns are what loading costs: so each width has its own loop, in whole
// numbers as far as 32 bits go.
function join2(values, a, b) {
    let most = 0;

    for (let i = 0; i < values.length; i++) {
        const value = a[i] | b[i] << 8;

        values[i] = value;
        if (value > most)
            most = value;
    }
    return most;
}

function join3(values, a, b, c) {
    let most = 0;

    for (let i = 0; i < values.length; i++) {
        const value = a[i] | b[i] << 8 | c[i] << 16;

        values[i] = value;
        if (value > most)
            most = value;
    }
    return most;
}

// Four planes, and what more there are.
function joinMore(values, [a, b, c, d, e, f]) {
    let most = 0;

    for (let i = 0; i < values.length; i++) {
        const value = ((a[i] | b[i] << 8 | c[i] << 16 | d[i] << 24) >>> 0)
            + (e ? e[i] * 2 ** 32 : 0) + (f ? f[i] * 2 ** 40 : 0);

        values[i] = value;
        if (value > most)
            most = value;
    }
    return most;
}

function join1(values, a) {
    let most = 0;

    values.set(a);
    for (let i = 0; i < a.length; i++)
        if (a[i] > most)
            most = a[i];
    return most;
}

// Numbers that were packed as the steps between them, odd where downwards.
function fromSteps(values, limit, what) {
    let last = 0;

    for (let i = 0; i < values.length; i++) {
        const step = values[i];

        last += step & 1 ? -((step + 1) / 2) : step / 2;
        if (last < 0 || last >= limit)
            throw new Damage(what);
        values[i] = last;
    }
    return values;
}

// The numbers of a column, each below `limit`; `count` of them if that is
// given; in an array of that type, if it is.
function column(block, name, limit = Infinity, count = undefined,
    type = undefined) {
    const place = block.places.get(name);

    demand(place && (count === undefined || place.count === count),
        'column ' + name);
    const {at, width} = place;
    const Values = type || (width <= 4 ? Uint32Array : Float64Array);
    const values = new Values(place.count);
    const planes = Array.from({length: width}, (_, n) => block.bytes.subarray(
        at + n * place.count, at + (n + 1) * place.count));
    const most = width === 1 ? join1(values, planes[0])
        : width === 2 ? join2(values, planes[0], planes[1])
            : width === 3 ? join3(values, planes[0], planes[1], planes[2])
                : joinMore(values, planes);

    demand(most < limit || place.count === 0, 'number in ' + name);
    return values;
}

// Names of functions, and the same with marks.
function readNames(block) {
    const place = block.places.get('names');

    demand(place && place.width === 1, 'names');
    const text = new TextDecoder('utf-8', {fatal: true}).decode(
        block.bytes.subarray(place.at, place.at + place.count));
    const marked = text.split('\0');

    demand(marked.pop() === '', 'end of names');
    return [MARK.test(text) ? text.replace(MARKS, '').split('\0').slice(0, -1)
        : marked, marked];
}

// The profile's tree of call paths, in preorder; node 0 is above the roots.
// By node: function, parent, first child and next sibling (0: none); `first`
// says that no node above has the same function.
function readTree(block, functions) {
    const up = column(block, 'up');
    const count = up.length + 1;
    const below = column(block, 'function', functions, up.length);
    const [fn, parent, child, sibling] = [0, 1, 2, 3].map(
        () => new Uint32Array(count));
    const first = new Uint8Array(count);
    // The path to the last node, and how often each function is on it.
    const path = [0], on = new Uint32Array(functions);
    let depth = 0;

    fn[0] = functions;
    for (let i = 1; i < count; i++) {
        const ends = up[i - 1], own = below[i - 1];

        if (ends > depth)
            throw new Damage('level');
        for (let k = 0; k < ends; k++)
            on[fn[path[depth - k]]]--;
        const before = ends > 0 ? path[depth - ends + 1] : 0;

        depth += 1 - ends;
        fn[i] = own;
        parent[i] = path[depth - 1];
        if (before === 0)
            child[parent[i]] = i;
        else
            sibling[before] = i;
        first[i] = on[own] === 0 ? 1 : 0;
        on[own]++;
        path[depth] = i;
    }
    return {count, fn, parent, child, sibling, first};
}

function checkMoments(moments) {
    demand(Array.isArray(moments) && moments.every(isCount), 'moments');
}

function checkProcesses(processes) {
    demand(Array.isArray(processes) && processes.length > 0, 'processes');
    for (const process of processes) {
        demand(isCount(process.pid) && typeof process.name === 'string'
            && typeof process.command === 'string' && isCount(process.parent)
            && process.parent <= processes.length && isCount(process.from)
            && isCount(process.to) && isCount(process.lost)
            && isCount(process.before), 'process');
        checkMoments(process.sections);
        checkMoments(process.pauses);
    }
}

// Gives each thread the slice of the samples that is its own.
function checkThreads(threads, processes, samples) {
    let at = 0;

    demand(Array.isArray(threads), 'threads');
    for (const thread of threads) {
        demand(isCount(thread.process) && thread.process < processes
            && isCount(thread.tid) && isCount(thread.samples)
            && typeof thread.name === 'string', 'thread');
        thread.begin = at;
        at += thread.samples;
        thread.end = at;
    }
    demand(at === samples, 'samples of threads');
}

// Times since the thread's sample before to times since the start, in place
// where they have room there (4,294 s); and the weight of each thread.
function addTimes(profile) {
    const steps = profile.time, {weight} = profile;
    let times = steps, last = 0;

    for (const thread of profile.threads) {
        let time = 0, sum = 0;

        for (let i = thread.begin; i < thread.end; i++) {
            time += steps[i];
            if (time > 0xffffffff && times === steps)
                times = new Float64Array(steps);
            times[i] = time;
            sum += weight[i];
        }
        last = Math.max(last, time);
        thread.weight = sum;
    }
    profile.time = times;
    profile.last = last + 1;
}

function strings(list, what) {
    demand(Array.isArray(list) && list.every((one) => typeof one === 'string'),
        what);
    return list;
}

const EVENTS = ['CPU', 'running', 'blocked', 'raised', 'waiting for a CPU'];
const RUNNING = 1, BLOCKED = 2, READY = 4;

// The whole profile but its code.
async function readProfile() {
    const [core, samples] = await Promise.all(
        [readBlock('core'), readBlock('samples')]);
    const head = core.head;
    const [names, marked] = readNames(core);
    const modules = strings(head.modules, 'modules');
    const tree = readTree(core, names.length);
    const tiers = strings(head.tiers, 'tiers');
    const stackNode = fromSteps(column(core, 'stack_node'), tree.count,
        'stack_node');
    const stack = column(samples, 'stack', stackNode.length);
    const profile = {
        names, marked, modules, tiers, stack, stackNode,
        tree: {...tree, nodeOf: new Int32Array(stackNode)},
        program: String(head.program),
        short: new Array(names.length),
        module: column(core, 'module', modules.length, names.length),
        kind: column(core, 'kind', KINDS.length, names.length),
        stackTier: column(core, 'stack_tier', Math.max(tiers.length, 1),
            stackNode.length),
        time: column(samples, 'time', undefined, stack.length),
        weight: column(samples, 'weight', undefined, stack.length),
        event: column(samples, 'event', EVENTS.length, stack.length,
            Uint8Array),
        period: head.period, slice: head.slice, processes: head.processes, threads: head.threads,
    };

    demand(isCount(head.period) && head.period > 0 && isCount(head.slice),
        'period');
    checkProcesses(profile.processes);
    checkThreads(profile.threads, profile.processes.length, stack.length);
    addTimes(profile);
    profile.diff = readDiff(head);
    profile.waits = await readWaits(profile);
    profile.marks = await readMarks(profile);
    for (const us of profile.marks.to)
        profile.last = Math.max(profile.last, us + 1);
    return profile;
}

function shortName(profile, fn) {
    if (profile.short[fn] === undefined)
        profile.short[fn] = shortened(profile.marked[fn]);
    return profile.short[fn];
}

// Weight in sampling periods, as the tables have it.
function periods(profile, weight) {
    return Math.round(weight / profile.period);
}
