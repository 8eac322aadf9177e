// SPDX-License-Identifier: MIT
// The code of functions: read and checked when it is first asked for, and
// weighed by what is selected.

function checkRow(row, code) {
    const [kind] = row;

    demand(isCount(kind) && kind < 4, 'kind of row');
    if (kind === 0)
        strings(row.slice(1), 'instruction');
    else if (kind === 1)
        demand(isCount(row[1]) && row[1] < code.files.length
            && isCount(row[2]) && isCount(row[3]), 'source row');
    else if (kind === 2)
        demand(isCount(row[1]), 'gap');
    else
        strings(row.slice(1), 'inlined functions');
}

function checkPiece(piece, code) {
    strings([piece.tier, piece.place, piece.lack], 'piece');
    demand(Array.isArray(piece.hits)
        && (piece.rows === null || Array.isArray(piece.rows)), 'piece');
    const rows = piece.rows || [];

    for (const row of rows) {
        demand(Array.isArray(row), 'row');
        checkRow(row, code);
    }
    for (const hit of piece.hits) {
        demand(Array.isArray(hit), 'hit');
        const [spot, row, lines] = hit;

        demand(isCount(spot) && spot > 0 && spot <= code.chains.length
            && Number.isSafeInteger(row) && row >= -1 && row < rows.length
            && isCount(lines) && lines <= code.chains[spot - 1].length, 'hit');
    }
}

function checkLines(head) {
    const code = {
        names: strings(head.names, 'names of lines'),
        short: strings(head.short, 'short names of lines'),
        files: strings(head.files, 'files'),
        lines: head.lines, chains: head.chains,
    };

    demand(code.short.length === code.names.length, 'short names of lines');
    demand([head.lines, head.chains, head.texts, head.functions]
        .every(Array.isArray), 'code');
    for (const line of head.lines)
        demand(Array.isArray(line) && line.every(isCount)
            && line[0] < code.names.length && line[1] < code.files.length
            && line.length === 4, 'line');
    for (const chain of head.chains)
        demand(Array.isArray(chain) && chain.every((one) => one === -1
            || isCount(one) && one < head.lines.length), 'chain');
    return code;
}

// {functions: Map, spot: by sample, lines, chains...} of the page's block.
async function readCode(profile) {
    const block = await readBlock('code');
    const head = block.head, code = checkLines(head);

    code.functions = new Map();
    for (const one of head.functions) {
        demand(isCount(one.function) && one.function < profile.names.length
            && Array.isArray(one.pieces), 'code of function');
        for (const piece of one.pieces)
            checkPiece(piece, code);
        code.functions.set(one.function, one);
    }
    code.texts = code.files.map(() => new Map());
    for (const text of head.texts) {
        demand(Array.isArray(text) && isCount(text[0]) && isCount(text[1])
            && text[0] < code.files.length && typeof text[2] === 'string',
        'source text');
        code.texts[text[0]].set(text[1], text[2]);
    }
    code.spot = block.places.has('spot') ? column(block, 'spot',
        code.chains.length + 1, profile.stack.length) : null;
    return code;
}

const OF_JIT = 2, UNNAMED = 4;     // of KINDS

// Whether a line is known of any code of a runtime.
function hasJitLines(profile, code) {
    if (code.hasJitLines === undefined)
        code.hasJitLines = [...code.functions].some(([fn, {pieces}]) =>
            profile.kind[fn] === OF_JIT && pieces.some(({hits}) =>
                hits.some(([, , lines]) => lines > 0)));
    return code.hasJitLines;
}

// Why no line of a function is known, and what brings them.
function lineHint(profile, fn, code) {
    const kind = profile.kind[fn];

    if (kind === UNNAMED)
        return '';
    if (kind !== OF_JIT)
        return `No lines: ${profile.modules[profile.module[fn]] || 'it'} has no `
            + 'debug information here. Compile with -g, install the package '
            + 'that has it, or let jprof-report --debuginfod fetch it.';
    // The page has room for the code of so many functions.
    if (hasJitLines(profile, code) && !code.functions.has(fn))
        return '';
    return hasJitLines(profile, code)
        ? 'No lines: the runtime wrote none of this code.'
        : (/:\d+(?::\d+)?\)?$/.test(profile.names[fn])
            ? 'Its name says at which line it begins. ' : '')
            + 'For the lines inside it, profile with jprof --jit=dump.';
}

// The weight of each spot in what is selected and not dropped.
function weighSpots(profile, tree, state, code) {
    const weights = new Float64Array(code.chains.length + 1);
    const {stack, weight, event} = profile;
    const spot = code.spot;

    if (spot === null)
        return weights;
    for (const thread of selectedThreads(profile, state)) {
        const [from, end] = selectedSlice(profile, thread, state, state.range);

        for (let i = from; i < end; i++) {
            if (spot[i] === 0 || state.event >= 0 && event[i] !== state.event
                    || tree.nodeOf[stack[i]] < 0)
                continue;
            weights[spot[i]] += weight[i];
        }
    }
    return weights;
}

// What was sampled of a function's code: by source line, with the lines of one
// function and file together, and where no line is known.
function weighLines(profile, code, fn, weights) {
    const groups = new Map();
    let unknown = 0, whole = 0;

    for (const piece of code.functions.get(fn).pieces) {
        for (const [spot, , count] of piece.hits) {
            const chain = code.chains[spot - 1];

            whole += weights[spot];
            if (count === 0)
                unknown += weights[spot];
            for (let k = 0; k < count; k++)
                if (chain[k] >= 0)
                    addLine(groups, code.lines[chain[k]], weights[spot],
                        k === 0);
        }
    }
    const own = profile.names[fn];
    const list = [...groups.values()].map((group) => {
        const isInlined = group.isInlined ? INLINED : '';
        const name = code.names[group.name] + isInlined;
        const short = code.short[group.name] || code.names[group.name];

        return {...group, text: name, short: clipped(short + isInlined),
            isOwn: name === '' || name === own};
    });

    return {groups: list, unknown, whole};
}

function addLine(groups, [name, file, line, isInlined], weight, isSelf) {
    const key = `${name} ${file} ${isInlined}`;
    let group = groups.get(key);

    if (!group)
        groups.set(key, group = {name, file, isInlined, lines: new Map()});
    const one = group.lines.get(line) || {line, self: 0, total: 0};

    one.total += weight;
    if (isSelf)
        one.self += weight;
    group.lines.set(line, one);
}

function groupWeight(group) {
    let sum = 0;

    for (const line of group.lines.values())
        sum += line.total;
    return sum;
}

// The function's heaviest lines, {line, weight, group}: its own ones with what
// was inlined there; where none is known, those of inlined code by Count.
function heaviestLines(sums, most) {
    const own = [], others = [];

    for (const group of sums.groups)
        for (const {line, self, total} of group.lines.values())
            if (group.isOwn && total > 0)
                own.push({line, weight: total, group});
            else if (self > 0)
                others.push({line, weight: self, group});
    return (own.length > 0 ? own : others)
        .sort((a, b) => b.weight - a.weight || a.line - b.line)
        .slice(0, most);
}
