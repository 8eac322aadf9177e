// SPDX-License-Identifier: MIT
// From what is selected to the numbers of every view.

// By process: whether it is that one or was begun by it, if through others.
function withBelow(profile, process) {
    const inside = new Uint8Array(profile.processes.length);
    const stack = [process];

    if (!profile.begun) {
        profile.begun = profile.processes.map(() => []);
        profile.processes.forEach(({parent}, i) => parent > 0
            && profile.begun[parent - 1].push(i));
    }
    while (stack.length > 0) {
        const one = stack.pop();

        if (inside[one] === 0)
            stack.push(...profile.begun[one]);
        inside[one] = 1;
    }
    return inside;
}

// The threads that count.  With --diff those of one side: what is chosen of
// the other side leaves this one whole.
function selectedThreads(profile, state) {
    const {thread} = state, {diff} = profile;
    const side = state.side || AFTER;
    const process = thread >= 0 ? profile.threads[thread].process
        : state.process;
    const isSide = (number) => !diff
        || profile.processes[number].side === side;

    if (process < 0 || !isSide(process))
        return diff ? profile.threads.filter((one) => isSide(one.process))
            : profile.threads;
    if (thread >= 0)
        return [profile.threads[thread]];
    const inside = state.below ? withBelow(profile, process) : null;

    return profile.threads.filter((one) => inside
        ? inside[one.process] === 1 : one.process === process);
}

// When section `n` of the log was, in that process.
function sectionSpan(process, n) {
    const count = Math.max(process.sections.length, 1);
    const own = n - process.before;

    if (own < 0 || own >= count)
        return null;
    return [own === 0 ? 0 : process.sections[own],
        own + 1 < count ? process.sections[own + 1] : Infinity];
}

function sectionCount(profile) {
    return profile.processes.reduce((most, process) => Math.max(most,
        process.before + Math.max(process.sections.length, 1)), 1);
}

// [first, end) of the thread's samples that count.
function selectedSlice(profile, thread, state, range) {
    let [from, to] = range || [0, Infinity];

    if (state.section >= 0) {
        const span = sectionSpan(profile.processes[thread.process],
            state.section);

        if (span === null)
            return [0, 0];
        from = Math.max(from, span[0]);
        to = Math.min(to, span[1]);
    }
    return [
        from > 0 ? lowerBound(profile.time, from, thread.begin, thread.end)
            : thread.begin,
        to < Infinity ? lowerBound(profile.time, to, thread.begin, thread.end)
            : thread.end];
}

// The weight and number of samples of each stack.
function weighStacks(profile, state, range) {
    const weights = new Float64Array(profile.stackNode.length);
    const counts = new Uint32Array(profile.stackNode.length);
    const {stack, weight, event} = profile, wanted = state.event;

    for (const thread of selectedThreads(profile, state)) {
        const [from, end] = selectedSlice(profile, thread, state, range);

        for (let i = from; i < end; i++) {
            if (wanted >= 0 && event[i] !== wanted)
                continue;
            const of = stack[i];

            weights[of] += weight[i];
            counts[of]++;
        }
    }
    return {weights, counts};
}

// Weights by node of the tree and by function.
function weighTree(profile, tree, stacks) {
    const {nodeOf, parent, fn, first} = tree, {weights, counts} = stacks;
    const self = new Float64Array(tree.count);
    const count = new Float64Array(profile.names.length + 1);
    const hits = new Float64Array(profile.names.length + 1);
    let samples = 0;

    for (let i = 0; i < nodeOf.length; i++) {
        const number = counts[i], node = nodeOf[i];

        if (number === 0 || node < 0)
            continue;
        self[node] += weights[i];
        samples += number;
    }
    const total = self.slice();

    for (let i = tree.count - 1; i > 0; i--) {
        const weight = total[i];

        if (weight === 0)
            continue;
        total[parent[i]] += weight;
        count[fn[i]] += self[i];
        if (first[i] === 1)
            hits[fn[i]] += weight;
    }
    return {self, total, count, hits, whole: total[0], samples};
}

// By node: whether it or one above it matches; and the weight of such stacks.
function weighMatches(tree, sums, found) {
    const marks = new Uint8Array(tree.count);
    const {parent, fn} = tree, {self} = sums;
    let weight = 0;

    for (let i = 1; i < tree.count; i++) {
        marks[i] = marks[parent[i]] | found[fn[i]];
        if (marks[i] === 1)
            weight += self[i];
    }
    return {marks, weight};
}

// The callers or callees of a function, each with the weight of the stacks
// that hold the call, once a stack; heaviest first.
function callsOf(tree, sums, fn, isCallers) {
    const weights = new Map();

    for (let i = 1; i < tree.count; i++) {
        const above = tree.parent[i];

        if (sums.total[i] === 0 || above === 0
                || tree.fn[isCallers ? i : above] !== fn
                || isRepeated(tree, i))
            continue;
        const other = tree.fn[isCallers ? above : i];

        weights.set(other, (weights.get(other) || 0) + sums.total[i]);
    }
    return [...weights].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

// Whether the call of node i is on the path to its caller as well.
function isRepeated(tree, i) {
    const callee = tree.fn[i], caller = tree.fn[tree.parent[i]];

    if (tree.first[i] && callee !== caller)
        return false;
    for (let at = tree.parent[i]; tree.parent[at] !== 0; at = tree.parent[at])
        if (tree.fn[at] === callee && tree.fn[tree.parent[at]] === caller)
            return true;
    return false;
}

// Self weights of a function by tier, heaviest first.
function tiersOf(profile, tree, stacks, fn) {
    const weights = new Map();

    for (let i = 0; i < tree.nodeOf.length; i++) {
        const node = tree.nodeOf[i];

        if (node <= 0 || stacks.counts[i] === 0 || tree.fn[node] !== fn
                || profile.tree.fn[profile.stackNode[i]] !== fn)
            continue;
        const tier = profile.tiers[profile.stackTier[i]];

        weights.set(tier, (weights.get(tier) || 0) + stacks.weights[i]);
    }
    return [...weights].sort((a, b) => b[1] - a[1]);
}
