// SPDX-License-Identifier: MIT
// What blocked in real time: whose wait a stack is, and from samples to the
// time of each wait and its standard error, by the rules of the text report
// (analyzer/model/waits.c and times.c say why they are these).

// {wait: by stack, plus one, 0: none; fn, call: by wait; idle}; null: the
// profile is not one of real time.
async function readWaits(profile) {
    if (!document.getElementById('jprof-waits'))
        return null;
    const block = await readBlock('waits'), {idle} = block.head;
    const limit = profile.names.length;
    const fn = column(block, 'function', limit);

    demand(Number.isFinite(idle) && idle > 0 && idle <= 1, 'share of idle');
    return {idle, fn, call: column(block, 'call', limit, fn.length),
        wait: column(block, 'wait', fn.length + 1, profile.stackNode.length)};
}

// A wait of so many weights between two samples was not sampled; a thread that
// was seen this long before its process ended lived as long; threads that share
// a moment are sampled within this time; a sample so long after the one before
// is what a thread was given at its end, unseen; the longest stratum.
const GAP = 24, END_NS = 250e6, MOMENT_NS = 10e6, GUESSED_NS = 1000,
    STRATUM_MAX_NS = 2 ** 32;

// Changes from stack to stack of a process's threads that samples of long
// strata leave unsure, {from, to: stacks, waits: theirs, ns, stratum, unsure},
// and what threads that ended in such a stratum lack.
class Together {
    constructor(add) {
        this.add = add;
        this.changes = [];
        this.short = new Map();
    }

    cutOff(from, to, waits, ns) {
        const key = `${from} ${to}`, known = this.short.get(key);

        this.short.set(key, {waits, ns: ns + (known ? known.ns : 0)});
    }

    // All that is unsure, told as variances.
    end() {
        const steps = new Map();

        this.changes.sort((a, b) => a.ns - b.ns);
        for (const {from, to, waits, ns, stratum, unsure} of this.changes) {
            const key = `${from} ${to}`;
            let step = steps.get(key);

            if (!step || ns - step.begin > stratum) {
                step = {begin: ns, moment: ns, squares: 0, atMoment: 0,
                    most: 0};
                steps.set(key, step);
            }
            const before = Math.max(step.squares, step.most);

            if (ns - step.moment > MOMENT_NS)
                step.atMoment = 0;
            step.moment = ns;
            step.atMoment += unsure;
            step.squares += unsure ** 2;
            step.most = Math.max(step.most, step.atMoment ** 2);
            this.tell(waits, (Math.max(step.squares, step.most) - before)
                * 2 / 3);
        }
        for (const {waits, ns} of this.short.values())
            this.tell(waits, ns ** 2);
    }

    tell(waits, variance) {
        if (waits[0] === waits[1])
            return;
        for (const wait of waits)
            if (wait > 0)
                this.add(wait - 1, variance);
    }
}

// The samples of a thread, one after the other, and the variances that they
// add to waits, of which add(wait, variance) is told; those of other threads
// besides are in `together`.
class Unsure {
    constructor(add, together, period) {
        this.add = add;
        this.together = together;
        this.period = period;
        this.last = this.from = null;
        this.drift = this.rest = this.most = this.until = this.again = 0;
        this.guessed = this.came = this.elsewhere = this.waited = 0;
    }

    step(from, to, variance) {
        if (from === to)
            return;
        for (const wait of [from, to])
            if (wait > 0)
                this.add(wait - 1, variance);
    }

    // What weights of a wait at one place are more or less than the time.
    endStay() {
        const off = Math.abs(this.drift - this.rest);

        if (this.last && this.last.stack >= 0 && off > this.most)
            this.step(this.last.wait, 0, off * off);
        this.drift = this.rest = this.most = 0;
    }

    // {stack (-1: left out), wait, ns, weight, isBlocked}
    next(sample) {
        const {last} = this, {weight} = sample;
        const between = last ? sample.ns - last.ns : 0;
        const isRest = last && (between === 0 || between === GUESSED_NS);

        if (last && last.stack !== sample.stack)
            this.change(last, sample, between);
        else if (!isRest)
            this.came = 0;
        if (!last || last.stack !== sample.stack || !sample.isBlocked) {
            this.endStay();
        } else if (between / GAP <= weight) {
            this.drift += weight - between;
            this.rest = isRest ? this.rest + weight : 0;
        }
        this.most = Math.max(this.most, weight);
        this.again = isRest ? this.again + weight : 0;
        this.guessed = isRest ? this.guessed + (between && weight) : 0;
        this.waited = sample.isBlocked ? this.waited + weight : 0;
        this.until = Math.max(last ? this.until + weight : 0, sample.ns);
        this.last = sample;
    }

    // It is at another stack than at the last sample.
    change(last, sample, between) {
        const stratum = Math.max(sample.weight, last.weight);
        const unsure = Math.min(between, stratum);

        if (stratum > 2 * this.period)
            this.together.changes.push({from: last.stack, to: sample.stack,
                waits: [last.wait, sample.wait], ns: sample.ns, stratum,
                unsure});
        else
            this.step(last.wait, sample.wait, 2 / 3 * unsure ** 2);
        this.from = last;
        this.came = sample.weight;
        this.elsewhere = this.waited;
    }

    // What it was given for the rest of its time, unseen.
    endRest(isWhole, isOutermost) {
        const {last, again, guessed, came, from} = this;
        const lived = came + again;
        const stratum = Math.min(this.elsewhere, STRATUM_MAX_NS);

        if (came > 0 && last.isBlocked && lived > 2 * this.period
            && lived < stratum)
            this.together.cutOff(from.stack, last.stack,
                [from.wait, last.wait], stratum - lived);
        if (guessed > 0 ? !isOutermost : !isWhole && !isOutermost)
            this.step(last.wait, 0, guessed ? guessed ** 2 / 3
                : again ** 2 / 6);
    }

    // The thread's samples are over; its process went on to `end`.
    end(end, isOutermost) {
        const {last, again, until, period} = this;

        if (!last || last.stack < 0)
            return;
        const isProven = last.isBlocked && last.weight > 2 * period
            && until - last.ns <= 2 * period;

        if (again > 0)
            this.endRest(until + Math.max(2 * period, END_NS) >= end,
                isOutermost);
        else if (!isProven)
            this.step(last.wait, 0, last.weight ** 2 / 6);
        this.endStay();
    }
}

// By stack: whether it blocked in what is selected; one that was only waiting
// for a CPU there is no wait.
function blockedStacks(profile, state) {
    const {event, stack} = profile;
    const blocked = new Uint8Array(profile.stackNode.length);

    for (const thread of selectedThreads(profile, state)) {
        const [from, end] = selectedSlice(profile, thread, state, state.range);

        for (let i = from; i < end; i++)
            if (event[i] === BLOCKED)
                blocked[stack[i]] = 1;
    }
    return blocked;
}

// Adds what one thread was blocked for to the waits' rows.  `here` is zero for
// each wait, before and after; `blocked` is of blockedStacks, `together` of the
// thread's process.
function addWaits(profile, tree, state,
    {thread, rows, here, blocked, together}) {
    const {waits, weight, time, event, stack} = profile;
    const process = profile.processes[thread.process];
    const [from, end] = selectedSlice(profile, thread, state, state.range);
    const unsure = new Unsure(together.add, together, profile.period);
    const met = [];
    let all = 0;

    for (let i = from; i < end; i++) {
        const isBlocked = event[i] === BLOCKED;

        if (!isBlocked && event[i] !== RUNNING && event[i] !== READY)
            continue;
        // As the text report has it, another event is outside of each wait.
        const isLeft = tree.nodeOf[stack[i]] < 0
            || state.event >= 0 && event[i] !== state.event;
        const wait = isLeft || blocked[stack[i]] === 0 ? 0
            : waits.wait[stack[i]];

        all += weight[i];
        if (isBlocked && wait > 0) {
            if (here[wait - 1] === 0)
                met.push(wait - 1);
            here[wait - 1] += weight[i];
        }
        unsure.next({stack: isLeft ? -1 : stack[i], wait, isBlocked,
            ns: 1000 * time[i], weight: weight[i]});
    }
    const last = unsure.last && unsure.last.stack;

    unsure.end(1000 * Math.min(process.to, state.range ? state.range[1]
        : Infinity), last >= 0
        && profile.tree.parent[profile.stackNode[last]] === 0);
    for (const wait of met) {
        const row = rows[wait], isIdle = here[wait] >= waits.idle * all;

        row[isIdle ? 'idle' : 'threads']++;
        row[isIdle ? 'idleTime' : 'time'] += here[wait];
        here[wait] = 0;
    }
}

// The waits of what is selected: {fn, call, time, error, threads, and those
// that were there all the time: idle, idleTime}; longest first, those with
// idle threads alone behind the others.
function weighWaits(profile, tree, state) {
    const {waits} = profile;
    const rows = Array.from(waits.fn, (fn, i) => ({fn, call: waits.call[i],
        time: 0, variance: 0, threads: 0, idle: 0, idleTime: 0}));
    const here = new Float64Array(rows.length);

    if (state.event < 0 || state.event === BLOCKED) {
        const blocked = blockedStacks(profile, state);

        const all = new Map();
        const add = (wait, variance) => {
            rows[wait].variance += variance;
        };

        for (const thread of selectedThreads(profile, state)) {
            const together = all.get(thread.process) || new Together(add);

            all.set(thread.process, together);
            addWaits(profile, tree, state,
                {thread, rows, here, blocked, together});
        }
        for (const together of all.values())
            together.end();
    }
    for (const row of rows)
        row.error = Math.sqrt(row.variance);
    return rows.filter((row) => row.time > 0 || row.idle > 0)
        .sort((a, b) => b.time - a.time || b.idleTime - a.idleTime
            || a.fn - b.fn || a.call - b.call);
}
