// SPDX-License-Identifier: MIT
// Trees of call paths: that of the profile, and those that hiding, focusing,
// dropping and collapsing make of it.

// A tree that is being made.  Most of its nodes stand for one node of the
// profile's, whose children have a function each: those are added without a
// look.  Only where several nodes of the profile have become one ("shared") is
// a child looked for: in a set of (parent, function) -> node, by open
// addressing.
class Growing {
    constructor(most) {
        let room = 16;

        while (room < 2 * most)
            room *= 2;
        this.mask = room - 1;
        this.nodes = new Uint32Array(room);
        this.shared = new Uint8Array(most);
        this.count = 1;
        this.first = new Uint8Array(most);
        [this.fn, this.parent, this.child, this.sibling] = [0, 1, 2, 3].map(
            () => new Uint32Array(most));
    }

    // The place of the child in the set, or the free one that it would take.
    place(parent, fn) {
        const {nodes, mask} = this;
        let at = Math.imul(parent ^ Math.imul(fn, 0x85ebca6b), 0x9e3779b1);

        at = Math.imul(at ^ (at >>> 16), 0x45d9f3b);
        at = (at ^ (at >>> 15)) & mask;
        for (;;) {
            const node = nodes[at];

            if (node === 0 || (this.parent[node] === parent
                    && this.fn[node] === fn))
                return at;
            at = (at + 1) & mask;
        }
    }

    // From now on another node of the profile is this one as well.
    share(node) {
        if (this.shared[node] === 1)
            return;
        this.shared[node] = 1;
        for (let i = this.child[node]; i !== 0; i = this.sibling[i])
            this.nodes[this.place(node, this.fn[i])] = i;
    }

    // The child of that function, which is made where it is not there.
    // `isFirst`: no node above has the function.
    add(parent, fn, isFirst) {
        let at = -1;

        if (this.shared[parent] === 1) {
            at = this.place(parent, fn);
            if (this.nodes[at] !== 0) {
                this.share(this.nodes[at]);
                return this.nodes[at];
            }
        }
        const node = this.count++;

        this.fn[node] = fn;
        this.parent[node] = parent;
        this.first[node] = isFirst ? 1 : 0;
        this.sibling[node] = this.child[parent];
        this.child[parent] = node;
        if (at >= 0)
            this.nodes[at] = node;
        return node;
    }
}

// What an operation does to functions, as bits by function.
const HIDE = 1, DROP = 2, FOCUS = 4;

function functionBits(profile, ops) {
    const bits = new Uint8Array(profile.names.length + 1);

    for (const op of ops) {
        if (op.kind === 'h')
            bits[op.id] |= HIDE;
        else if (op.kind === 'd')
            bits[op.id] |= DROP;
        else if (op.kind === 'f')
            bits[op.id] |= FOCUS;
        else if (op.kind === 'm')
            for (let fn = 0; fn < profile.names.length; fn++)
                if (profile.module[fn] === op.id)
                    bits[fn] |= HIDE;
    }
    return bits;
}

// The sets of functions of which stacks have to hold one each.
function keepSets(profile, ops) {
    return ops.filter((op) => op.kind === 'k' || op.kind === 'q')
        .map((op) => op.kind === 'q' ? matches(profile, op.text)
            : Uint8Array.from({length: profile.names.length + 1},
                (_, fn) => fn === op.id ? 1 : 0));
}

// The tree that the operations make, with the node of each stack (-1: none);
// with `collapse`, a function that calls itself, if through others, is one
// node with what it calls.
function changedTree(profile, ops, collapse) {
    const nodes = profile.tree;
    const bits = functionBits(profile, ops);
    const keeps = keepSets(profile, ops).slice(0, 30);
    const isFocused = ops.some((op) => op.kind === 'f');
    const tree = new Growing(nodes.count);
    const leaf = new Int32Array(nodes.count);
    const map = new Uint32Array(nodes.count);
    // By node: bits of `keeps` that are on its path; DEAD and INSIDE.
    const kept = new Uint32Array(nodes.count);
    const DEAD = 0x80000000, INSIDE = 0x40000000;
    const wanted = (2 ** keeps.length - 1 + (isFocused ? INSIDE : 0)) >>> 0;

    tree.fn[0] = profile.names.length;
    leaf[0] = wanted === 0 ? 0 : -1;
    for (let i = 1; i < nodes.count; i++) {
        const fn = nodes.fn[i], bit = bits[fn];
        let state = kept[nodes.parent[i]];

        for (let k = 0; k < keeps.length; k++)
            if (keeps[k][fn])
                state |= 1 << k;
        if (bit & DROP)
            state |= DEAD;
        if (bit & FOCUS)
            state |= INSIDE;
        kept[i] = state;
        const parent = map[nodes.parent[i]];

        if ((bit & HIDE) || (isFocused && !(state & INSIDE))) {
            if (nodes.child[i] !== 0)
                tree.share(parent);
            map[i] = parent;
        } else {
            map[i] = mapNode(tree, parent, fn, nodes.first[i] === 1, collapse);
        }
        leaf[i] = (state & DEAD) || (state & wanted) >>> 0 !== wanted
            ? -1 : map[i];
    }
    const nodeOf = new Int32Array(profile.stackNode.length);

    for (let i = 0; i < nodeOf.length; i++)
        nodeOf[i] = leaf[profile.stackNode[i]];
    const {count, parent, child, sibling, first} = tree;

    return {count, fn: tree.fn, parent, child, sibling, first, nodeOf};
}

// The node of a function below `parent` in the tree that is being made.  The
// profile tells of many nodes that no node above has their function.
function mapNode(tree, parent, fn, isFirst, collapse) {
    let above = isFirst ? 0 : parent;

    while (above !== 0 && tree.fn[above] !== fn)
        above = tree.parent[above];
    if (collapse && above !== 0) {
        tree.share(above);
        return above;
    }
    return tree.add(parent, fn, above === 0);
}

// The children with a weight, heaviest first; those lighter than `least` are
// left out.
function childrenOf(tree, total, node, least) {
    const list = [];

    for (let i = tree.child[node]; i !== 0; i = tree.sibling[i])
        if (total[i] > 0 && total[i] >= least)
            list.push(i);
    return list.sort((a, b) => total[b] - total[a] || a - b);
}

// Patterns that took longer than this over all names, which the page then no
// longer tries.
const tooSlow = new Set(), MOST_MS = 1000;

// The part of a name that a pattern is tried on, by how many of its parts
// repeat: where nothing matches, k of them take up to n ** (k + 1) / (k + 1)!
// steps for n characters.  Each choice, `a?` or one of a group, doubles that.
const NAME_LENGTHS = [1000, 1000, 800, 200];

// That for one pattern; 0: it may take for ever.
function nameLength(pattern) {
    const plain = pattern.replace(/\\[^1-9k]/g, '_')
        .replace(/\[[^\]]*\]/g, '_');
    const count = (what) => (plain.match(what) || []).length;
    const choices = count(/[^*+?(]\?/g)
        + (plain.includes('(') ? count(/\|/g) : 0);

    // A repeated group, or what refers to one.
    if (/\)(?:[*+?]|\{\d)|\\/.test(plain))
        return 0;
    return NAME_LENGTHS[count(/[*+]|\{\d+,\d*\}/g) + (choices >> 2)] || 0;
}

// A text to look for, or a pattern between slashes; null: it cannot be.
function matcher(text) {
    const found = /^\/(.*)\/$/.exec(text);

    if (!found) {
        const lower = text.toLowerCase();

        return (name) => name.toLowerCase().includes(lower);
    }
    const most = nameLength(found[1]);

    if (most === 0 || tooSlow.has(text))
        return null;
    try {
        const pattern = new RegExp(found[1], 'i');

        return (name) => pattern.test(name.length > most
            ? name.slice(0, most) : name);
    } catch {
        return null;
    }
}

// By function: whether its name matches.
function matches(profile, text) {
    const found = new Uint8Array(profile.names.length + 1);
    const matching = text === '' ? null : matcher(text);
    const end = performance.now() + MOST_MS;

    for (let fn = 0; matching && fn < profile.names.length; fn++) {
        found[fn] = matching(profile.names[fn]) ? 1 : 0;
        if (fn % 64 === 63 && performance.now() > end) {
            tooSlow.add(text);
            return found.fill(0);
        }
    }
    return found;
}
