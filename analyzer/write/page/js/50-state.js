// SPDX-License-Identifier: MIT
// The state of the page, which is all in its address: what is not understood
// there is left out.

const VIEWS = ['flame', 'tree', 'bottom', 'functions', 'function', 'code',
    'marks', 'waits'];
const OPS = {k: 'Keep', h: 'Hide', d: 'Drop', f: 'Focus', m: 'Hide module',
    q: 'Matching'};
const MOST_OPS = 30, MOST_TEXT = 200;

function emptyState() {
    return {view: 'flame', range: null, base: null, process: -1, below: false, thread: -1,
        section: -1, event: -1, search: '', ops: [], collapse: false,
        up: false, fn: -1, sort: 'count', zoom: [], work: false,
        isWork: false, usual: 'count', lead: 'flame'};
}

// A number below `limit`, or -1.
function readNumber(text, limit) {
    return text !== null && /^\d{1,9}$/.test(text) && Number(text) < limit
        ? Number(text) : -1;
}

// "1.5-2" in seconds as microseconds, or null.
function readRange(text, last) {
    const found = /^(\d{1,9}(?:\.\d{1,6})?)-(\d{1,9}(?:\.\d{1,6})?)$/
        .exec(text || '');

    if (!found)
        return null;
    const [from, to] = [1, 2].map((i) => Math.round(Number(found[i]) * 1e6));

    return from < to && from < last ? [from, to] : null;
}

function writeRange(range) {
    return range.map((us) => String(us / 1e6)).join('-');
}

function readOp(profile, text) {
    const kind = text.slice(0, 1), rest = text.slice(1);

    if (!Object.hasOwn(OPS, kind))
        return null;
    if (kind === 'q')
        return rest !== '' && rest.length <= MOST_TEXT && matcher(rest)
            ? {kind, id: -1, text: rest} : null;
    const id = readNumber(rest, kind === 'm' ? profile.modules.length
        : profile.names.length);

    return id >= 0 ? {kind, id, text: ''} : null;
}

function readZoom(text, profile) {
    const parts = (text || '').split('.').slice(0, 5000)
        .map((one) => readNumber(one, profile.names.length));

    return text && parts.every((one) => one >= 0) ? parts : [];
}

function readState(profile, hash) {
    const given = new URLSearchParams(hash.slice(0, 65536).replace(/^#/, ''));
    const state = emptyState();
    const search = given.get('q') || '';

    if (leadsWithWaits(profile))
        state.view = state.lead = 'waits';
    if (VIEWS.includes(given.get('v')))
        state.view = given.get('v');
    if (['count', 'hits', 'name', 'change'].includes(given.get('sort')))
        state.sort = given.get('sort');
    state.range = readRange(given.get('t'), profile.last);
    state.base = readRange(given.get('b'), profile.last);
    state.process = readNumber(given.get('p'), profile.processes.length);
    state.below = state.process >= 0 && given.get('i') === '1';
    state.thread = readNumber(given.get('th'), profile.threads.length);
    state.section = readNumber(given.get('s'), sectionCount(profile));
    state.event = readNumber(given.get('e'), EVENTS.length);
    state.fn = readNumber(given.get('f'), profile.names.length);
    state.search = search.length <= MOST_TEXT ? search : '';
    state.ops = given.getAll('o').slice(0, MOST_OPS)
        .map((text) => readOp(profile, text)).filter((op) => op !== null);
    state.collapse = given.get('c') === '1';
    state.up = given.get('up') === '1';
    state.zoom = readZoom(given.get('z'), profile);
    if (profile.diff) {
        state.base = null;
        state.usual = 'change';
        state.sort = given.has('sort') ? state.sort : 'change';
        state.isWork = profile.diff.isWork;
        state.work = state.isWork ? given.get('w') !== '0'
            : given.get('w') === '1';
    }
    return state;
}

function writeState(state) {
    const out = new URLSearchParams();
    const numbers = {p: state.process, th: state.thread, s: state.section,
        e: state.event, f: state.fn};

    if (state.view !== state.lead)
        out.set('v', state.view);
    if (state.range)
        out.set('t', writeRange(state.range));
    if (state.base)
        out.set('b', writeRange(state.base));
    for (const [name, value] of Object.entries(numbers))
        if (value >= 0)
            out.set(name, value);
    if (state.process >= 0 && state.below)
        out.set('i', '1');
    if (state.search)
        out.set('q', state.search);
    for (const op of state.ops)
        out.append('o', op.kind + (op.kind === 'q' ? op.text : op.id));
    if (state.collapse)
        out.set('c', '1');
    if (state.up)
        out.set('up', '1');
    if (state.sort !== state.usual)
        out.set('sort', state.sort);
    if (state.work !== state.isWork)
        out.set('w', Number(state.work));
    if (state.zoom.length > 0)
        out.set('z', state.zoom.join('.'));
    return out.toString();
}

// The numbers of a state, worked out when asked for and kept while what they
// depend on is the same.
class Model {
    constructor(profile) {
        this.profile = profile;
        this.kept = new Map();
    }

    keep(name, key, make_) {
        const kept = this.kept.get(name);

        if (kept && kept.key === key)
            return kept.value;
        const value = make_();

        this.kept.set(name, {key, value});
        return value;
    }

    tree(state) {
        if (state.ops.length === 0 && !state.collapse)
            return this.profile.tree;
        const key = JSON.stringify([state.ops, state.collapse]);

        return this.keep('tree', key,
            () => changedTree(this.profile, state.ops, state.collapse));
    }

    stacks(state, range, name) {
        const key = JSON.stringify([range, state.process, state.below,
            state.thread, state.section, state.event, state.side]);

        return this.keep('stacks' + name, key,
            () => weighStacks(this.profile, state, range));
    }

    sums(state, range = state.range, name = '') {
        const tree = this.tree(state), stacks = this.stacks(state, range, name);
        const kept = this.kept.get('sums' + name);

        if (kept && kept.tree === tree && kept.stacks === stacks)
            return kept.value;
        const value = weighTree(this.profile, tree, stacks);

        this.kept.set('sums' + name, {tree, stacks, value});
        return value;
    }

    // What blocked in a profile of real time.
    waits(state) {
        const tree = this.tree(state), key = JSON.stringify([state.range,
            state.process, state.below, state.thread, state.section,
            state.event, state.ops]);

        return this.keep('waits', key,
            () => weighWaits(this.profile, tree, state));
    }

    // What was compared with, or null.
    base(state) {
        if (this.profile.diff)
            return this.sums({...state, side: BEFORE}, state.range, 'base');
        return state.base ? this.sums(state, state.base, 'base') : null;
    }

    // By node, what its box is as wide as.
    shown(state) {
        const sums = this.sums(state), base = this.base(state);
        const kept = this.kept.get('shown');

        if (!base)
            return sums.total;
        if (kept && kept.sums === sums && kept.base === base
                && kept.work === state.work)
            return kept.value;
        const value = weighBoth(this.profile, state, sums, base);

        this.kept.set('shown', {sums, base, work: state.work, value});
        return value;
    }

    // By function: whether it is searched for or, where nothing is, chosen.
    found(state) {
        if (state.search === '' && state.fn >= 0)
            return this.keep('chosen', state.fn, () => Uint8Array.from(
                {length: this.profile.names.length + 1},
                (_, fn) => fn === state.fn ? 1 : 0));
        return this.keep('found', state.search,
            () => matches(this.profile, state.search));
    }

    matched(state) {
        const tree = this.tree(state), sums = this.sums(state);
        const found = this.found(state), kept = this.kept.get('matched');

        if (kept && kept.sums === sums && kept.found === found)
            return kept.value;
        const value = weighMatches(tree, sums, found);

        this.kept.set('matched', {sums, found, value});
        return value;
    }
}
