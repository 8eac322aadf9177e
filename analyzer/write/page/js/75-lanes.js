// SPDX-License-Identifier: MIT
// The lanes of the timeline: which there are, and what was used when.

const IDLE_SHARE = 0.005, OPEN_LANES = 12;

// Lanes: {name, title, threads, weight, level, children, process, thread}.
function makeLanes(profile) {
    const weights = profile.threads.map((thread) => thread.weight);
    const all = {name: 'All', title: 'Everything', threads: profile.threads,
        weight: weights.reduce((a, b) => a + b, 0), process: -1, thread: -1,
        children: []};
    const lanes = profile.processes.map((process, i) => processLane(process,
        i));

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

function processLane(process, i) {
    return {
        name: (process.side === undefined ? '' : process.side === AFTER
            ? 'after: ' : 'before: ') + `${process.name} ${process.pid}`,
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

function openLanes(all) {
    const order = [...all.children];
    let shown = order.length;

    for (let i = 0; i < order.length && shown < OPEN_LANES; i++) {
        const lane = order[i];

        if (lane.process === -2 || lane.children.length === 0
                || shown + lane.children.length > OPEN_LANES)
            continue;
        lane.isOpen = true;
        shown += lane.children.length;
        order.push(...lane.children);
    }
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

const BLOCKED = 2;

// Weights in `count` equal slices of the whole time: running, blocked, and
// of what matches.  A sample's weight lies in the time before it.
function binLane(profile, lane, count, {event: wanted, matched}) {
    const [running, blocked, found] = [0, 1, 2].map(
        () => new Float64Array(count));
    const {time, weight, event, stack} = profile;
    const slices = count / profile.last;

    for (const thread of lane.threads)
        for (let i = thread.begin; i < thread.end; i++) {
            const kind = event[i], us = weight[i] / 1000;

            if (wanted >= 0 && kind !== wanted)
                continue;
            const into = kind === BLOCKED ? blocked : running;
            const isMatch = matched !== null && matched[stack[i]] === 1;
            const end = Math.min(count - 1, time[i] * slices | 0);
            const from = Math.min(end, Math.max(0, time[i] - us) * slices | 0);
            const part = us / (end - from + 1);

            for (let at = from; at <= end; at++) {
                into[at] += part;
                if (isMatch)
                    found[at] += part;
            }
        }
    return {running, blocked, matched: found};
}
