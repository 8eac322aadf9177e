// SPDX-License-Identifier: MIT
// The marks of the program: the block of them, checked; and which are where.

const MARK_KINDS = ['mark', 'span', 'span without an end',
    'end without a begin'];
const MARK_POINT = 0, MARK_END = 3;

// {name, names, from, to, kind, process, thread (-1: without samples), more};
// all empty without a block.
async function readMarks(profile) {
    if (!document.getElementById('jprof-marks'))
        return {names: [], more: 0, name: [], from: [], to: [], kind: [],
            process: [], thread: []};
    const block = await readBlock('marks'), {head} = block;
    const names = strings(head.names, 'names of marks');
    const name = column(block, 'name', names.length);
    const number = (text, limit) => column(block, text, limit, name.length);
    const from = number('from'), length = number('length');

    demand(isCount(head.more), 'marks');
    return {names, more: head.more, name, from: Float64Array.from(from),
        to: Float64Array.from(from, (us, i) => us + length[i]),
        kind: number('kind', MARK_KINDS.length),
        process: number('process', profile.processes.length),
        thread: Int32Array.from(number('thread', profile.threads.length + 1),
            (thread) => thread - 1)};
}

function hasLength(marks, i) {
    return marks.kind[i] !== MARK_POINT && marks.kind[i] !== MARK_END;
}

// The numbers of the marks that a lane shows.
function marksOf(profile, lane) {
    const {marks} = profile, list = [];

    for (let i = 0; i < marks.name.length; i++)
        if (lane.process === -1 || lane.thread >= 0
            && marks.thread[i] === lane.thread
            || lane.thread < 0 && marks.process[i] === lane.process)
            list.push(i);
    return list;
}

const MOST_NESTED = 3, LEVEL = 3;

// By span of the list, its level among those that overlap, the outer ones
// first; what is deeper is on the last level.
function nestMarks(marks, list) {
    const order = list.filter((i) => hasLength(marks, i)).sort((a, b) =>
        marks.from[a] - marks.from[b] || marks.to[b] - marks.to[a] || a - b);
    const ends = new Array(MOST_NESTED).fill(0), levels = new Map();

    for (const i of order) {
        let level = 0;

        while (level < MOST_NESTED - 1 && ends[level] > marks.from[i])
            level++;
        ends[level] = Math.max(ends[level], marks.to[i]);
        levels.set(i, level);
    }
    return levels;
}

// What is said of a mark.
function markText(marks, i) {
    const name = marks.names[marks.name[i]];

    return hasLength(marks, i)
        ? `${name}: ${seconds(marks.to[i] - marks.from[i], 1)} from `
            + `${seconds(marks.from[i], 1)}`
            + (marks.kind[i] === 1 ? '' : ` (${MARK_KINDS[marks.kind[i]]})`)
        : `${name} (${MARK_KINDS[marks.kind[i]]}) at `
            + seconds(marks.from[i], 1);
}

// The shortest span of `list` that covers the moment, or the point within
// `near` of it; -1: none.
function markAt(marks, list, us, near) {
    let found = -1, least = Infinity;

    for (const i of list) {
        const from = marks.from[i] - near, to = marks.to[i] + near;

        if (us >= from && us <= to && to - from < least) {
            least = to - from;
            found = i;
        }
    }
    return found;
}

// The range of a mark: a point is a range of what is around it.
function markRange(profile, i) {
    const {marks} = profile, least = hasLength(marks, i) ? 1
        : Math.max(1, Math.round(profile.last / 200));
    const from = Math.max(0, Math.min(marks.from[i], profile.last - 1));

    return [from, Math.max(Math.min(Math.max(marks.to[i], from + least),
        profile.last), from + 1)];
}
