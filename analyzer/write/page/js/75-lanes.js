// SPDX-License-Identifier: MIT
// The lanes of the timeline: which there are, and what was used when.

const IDLE_SHARE = 0.005, OPEN_LANES = 12;
const NAME_BESIDE = 8;  // characters of a program's name before its argument

// Lanes: {name, title, threads, weight, level, children, process, thread}.
function makeLanes(profile) {
    const weights = profile.threads.map((thread) => thread.weight);
    const all = {name: 'All', title: 'Everything', threads: profile.threads,
        weight: weights.reduce((a, b) => a + b, 0), process: -1, thread: -1,
        children: []};
    const telling = tellingArguments(profile.processes);
    const lanes = profile.processes.map((process, i) => processLane(process,
        telling[i], i));

    profile.threads.forEach((thread, i) => {
        const lane = lanes[thread.process];

        lane.threads.push(thread);
        lane.weight += weights[i];
        lane.children.push({
            name: `${thread.name || 'thread'} ${thread.tid}`,
            title: `Thread ${thread.tid} ${thread.name}`, threads: [thread],
            weight: weights[i], process: thread.process, thread: i,
            children: []});
    });
    for (const lane of lanes)
        if (lane.children.length < 2)
            lane.children = [];
    all.children = nestLanes(profile, lanes);
    if (all.children.length === 1 && profile.processes.length === 1)
        all.children = all.children[0].children;
    sumLanes(all);
    foldLanes(all);
    all.isOpen = true;
    openLanes(all);
    return all;
}

// Words of a command that are no options, without their folders.
function words({command}) {
    return command.split(' ').slice(1)
        .filter((word) => word !== '' && !word.startsWith('-'))
        .map((word) => word.slice(word.lastIndexOf('/', word.length - 2) + 1));
}

// By process, the word of its command that tells it from the others of its
// program: the one that the fewest of them have and, of several such, the one
// that comes most often in the command, as the file that a compiler reads does.
function tellingArguments(processes) {
    // By program: the processes that have a word.
    const programs = new Map();
    const counts = processes.map((process) => {
        const times = new Map();
        const users = programs.get(process.name) || new Map();

        for (const word of words(process))
            times.set(word, (times.get(word) || 0) + 1);
        for (const word of times.keys())
            users.set(word, (users.get(word) || 0) + 1);
        programs.set(process.name, users);
        return times;
    });

    return processes.map(({name}, i) => {
        const users = programs.get(name), times = counts[i];
        let best = '';

        for (const [word, number] of times) {
            const fewer = best === '' ? 1 : users.get(best) - users.get(word);

            if (fewer > 0 || fewer === 0 && number > times.get(best))
                best = word;
        }
        return best;
    });
}

function processLane(process, word, i) {
    return {
        name: (process.side === undefined ? '' : process.side === AFTER
            ? 'after: ' : 'before: ') + (word === '' ? process.name
            : fitting(process.name, NAME_BESIDE) + ' ' + word.slice(0, 60))
            + ' ' + process.pid,
        title: `${process.command || process.name} (pid ${process.pid})`
            + (process.lost > 0 ? `, ${process.lost} samples lost` : ''),
        lost: process.lost, threads: [], weight: 0, process: i, thread: -1,
        children: []};
}

// Processes below those that began them; circles are cut.
function nestLanes(profile, lanes) {
    const roots = [];

    profile.processes.forEach((process, i) => {
        let above = process.parent;

        for (let steps = 0; above > 0 && above !== i + 1
                && steps < profile.processes.length; steps++)
            above = profile.processes[above - 1].parent;
        if (process.parent > 0 && above === 0)
            lanes[process.parent - 1].children.push(lanes[i]);
        else
            roots.push(lanes[i]);
    });
    return roots;
}

// Weights with everything below; a deep tree is no deep recursion.
function sumLanes(all) {
    const order = [all];

    for (let i = 0; i < order.length; i++)
        for (const child of order[i].children)
            order.push(child);
    for (const lane of order.reverse()) {
        lane.whole = lane.weight;
        if (lane.process >= 0)
            for (const child of lane.children)
                lane.whole += child.thread < 0 ? child.whole : 0;
    }
}

// Busiest first; the idle ones of a lane are folded into one.
function foldLanes(all) {
    const order = [all];

    for (let i = 0; i < order.length; i++) {
        const lane = order[i];

        for (const child of lane.children)
            order.push(child);
        lane.children.sort((a, b) => b.whole - a.whole);
        const busy = lane.children.filter((child) => child.whole
            >= IDLE_SHARE * all.weight);
        const idle = lane.children.slice(busy.length);

        if (busy.length > 0 && idle.length > 1)
            lane.children = [...busy, {
                name: `${idle.length} nearly idle`, title: 'Nearly idle ones',
                threads: idle.flatMap((child) => child.threads),
                weight: 0, whole: 0, process: -2, thread: -1,
                children: idle}];
    }
}

// Opens what there is room for, and what most of the time was spent in and
// below: of a build, the processes of make.
function openLanes(all) {
    const order = [...all.children];
    let shown = order.length;

    for (let i = 0; i < order.length; i++) {
        const lane = order[i];

        if (lane.process === -2 || lane.children.length === 0
                || shown + lane.children.length > OPEN_LANES
                && lane.whole - lane.weight < all.weight / 2)
            continue;
        lane.isOpen = true;
        shown += lane.children.length;
        order.push(...lane.children);
    }
}

// The threads whose time a lane shows: of a folded one those below it, too.
function shownThreads(lane) {
    if (lane.isOpen || lane.process === -1 || lane.children.length === 0)
        return lane.threads;
    if (lane.inside === undefined) {
        const stack = [lane];

        lane.inside = [];
        while (stack.length > 0) {
            const one = stack.pop();

            // Idle ones that are folded stand below, each for itself.
            if (one.process !== -2)
                lane.inside.push(...one.threads);
            for (const child of one.children)
                if (child.thread < 0 || one === lane && one.process === -2)
                    stack.push(child);
        }
    }
    return lane.inside;
}

// The lanes in sight, each with its level.
function listLanes(all) {
    const list = [];
    const stack = [[all, 0]];

    while (stack.length > 0) {
        const [lane, level] = stack.pop();

        list.push({lane, level});
        if (lane.isOpen)
            for (let i = lane.children.length; i-- > 0;)
                stack.push([lane.children[i], level + 1]);
    }
    return list;
}

// Weights in `count` equal slices of the whole time: running, blocked, and
// of what matches.  A sample's weight lies in the time before it.
function binLane(profile, lane, count, {event: wanted, matched}) {
    const [running, blocked, found] = [0, 1, 2].map(
        () => new Float64Array(count));
    const {time, weight, event, stack} = profile;
    const slices = count / profile.last;

    for (const thread of shownThreads(lane))
        for (let i = thread.begin; i < thread.end; i++) {
            const kind = event[i], us = weight[i] / 1000;

            if (wanted >= 0 && kind !== wanted)
                continue;
            const into = kind === BLOCKED ? blocked : running;
            const isMatch = matched !== null && matched[stack[i]] === 1;
            const end = Math.min(count - 1, time[i] * slices | 0);
            const from = Math.min(end, Math.max(0, time[i] - us) * slices | 0);
            if (from === end) {
                into[end] += us;
                if (isMatch)
                    found[end] += us;
                continue;
            }
            const part = us / (end - from + 1);

            for (let at = from; at <= end; at++) {
                into[at] += part;
                if (isMatch)
                    found[at] += part;
            }
        }
    return {running, blocked, matched: found};
}
