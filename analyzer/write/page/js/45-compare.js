// SPDX-License-Identifier: MIT
// Two profiles in one page (--diff), or two ranges of one: what differs, and
// how sure that is.

const AFTER = 0, BEFORE = 1;

// What --diff compares: {before, after, units: by side, isWork}; null without.
function readDiff(head) {
    const {diff, processes} = head;

    if (diff === undefined)
        return null;
    strings([diff.before, diff.after], 'names of the sides');
    demand(Array.isArray(diff.units) && diff.units.length === 2
        && diff.units.every((one) => Number.isFinite(one) && one > 0)
        && typeof diff.isWork === 'boolean', 'units of work');
    for (const process of processes)
        demand(process.side === AFTER || process.side === BEFORE, 'side');
    return diff;
}

// The numbers by which each side's weights are divided: its whole, or units of
// work.
function wholes(profile, state, now, before) {
    return profile.diff && state.work
        ? [1e9 * profile.diff.units[AFTER], 1e9 * profile.diff.units[BEFORE]]
        : [now.whole || 1, before.whole || 1];
}

// By node, how much of both sides it is: what has vanished is there as well.
function weighBoth(profile, state, now, before) {
    const [a, b] = wholes(profile, state, now, before);
    const {total} = now, base = before.total;
    const both = new Float64Array(total.length);

    for (let i = 0; i < both.length; i++)
        both[i] = total[i] / a + base[i] / b;
    return both;
}

// Time as people say it.
function duration(s) {
    const size = Math.abs(s);

    return size >= 1 ? s.toFixed(2) + ' s' : size >= 1e-3
        ? (s * 1e3).toFixed(2) + ' ms' : (s * 1e6).toFixed(1) + ' \u00b5s';
}

// How weights of the selection differ from those of what it is compared with:
// as shares of each, or as time for each unit of work.  `comparisons` are that
// many made at once.
class Comparison {
    constructor(page, state, comparisons) {
        this.now = page.model.sums(state);
        this.before = page.model.base(state);
        this.isTime = Boolean(page.profile.diff && state.work);
        [this.a, this.b] = wholes(page.profile, state, this.now, this.before);
        this.hasBoth = this.now.samples > 0 && this.before.samples > 0;
        // Two errors for one comparison; the tail of the normal distribution
        // divided by their number for many (Bonferroni).
        this.limit = Math.sqrt(4 + 2 * Math.log(Math.max(comparisons, 1)));
        // What a sample weighs.
        [this.one, this.other] = [this.now, this.before].map((sums) =>
            sums.samples > 0 ? sums.whole / sums.samples : 0);
    }

    // In shares or in seconds.
    step(weight, base) {
        return weight / this.a - base / this.b;
    }

    // The standard error is that of samples, not of weights; a time's is that
    // of as many samples as it has of its side.
    error(weight, base) {
        const {now, before, one, other, a, b} = this;

        if (this.isTime)
            return Math.sqrt(Math.max(weight, one) * one / (a * a)
                + Math.max(base, other) * other / (b * b));
        const mean = (weight / a * now.samples + base / b * before.samples)
            / (now.samples + before.samples);

        return Math.sqrt(Math.max(mean * (1 - mean), 1e-12)
            * (1 / now.samples + 1 / before.samples));
    }

    isSure(weight, base) {
        return this.hasBoth && Math.abs(this.step(weight, base))
            > this.limit * this.error(weight, base);
    }

    // Colour and words: grey where chance may have made it.
    tell(weight, base) {
        const isSure = this.isSure(weight, base);
        const step = this.step(weight, base) * (this.isTime ? 1 : 100);
        const size = Math.abs(step);

        return {step, isSure, word: sideWord(weight, base, isSure),
            colour: !isSure ? 'same' : step > 0 ? 'more' : 'less',
            text: (step >= 0 ? '+' : '\u2212') + (this.isTime
                ? duration(size) : size.toFixed(1) + '%')};
    }

    // Of a function by 'count' or 'hits'.
    ofFunction(by, fn) {
        return this.tell(this.now[by][fn], this.before[by][fn]);
    }

    ofNode(node) {
        return this.tell(this.now.total[node], this.before.total[node]);
    }
}

// A word for what one side alone has.
function sideWord(weight, base, isSure) {
    return base > 0 && weight === 0 ? isSure ? 'vanished' : 'only before'
        : base === 0 && weight > 0 ? isSure ? 'new' : 'only after' : '';
}

// Both sides of a function in words.
function describeBoth(page, state, fn) {
    const {profile} = page;
    const comparison = new Comparison(page, state, profile.names.length);
    const side = (sums) => `Count ${number(periods(profile, sums.count[fn]))} `
        + `(${percent(sums.count[fn], sums.whole)}), Hits ${number(periods(
            profile, sums.hits[fn]))} (${percent(sums.hits[fn], sums.whole)})`;
    const change = comparison.ofFunction('hits', fn);

    return `before: ${side(comparison.before)}; after: `
        + `${side(comparison.now)}; Hits ${change.text}`
        + (change.isSure ? '' : ', which chance may have made');
}

// A table's cell for a difference: signed, and marked where it is sure.
function changeCell({text, isSure, colour}) {
    return make('span', {class: 'change ' + colour, role: 'gridcell',
        title: isSure ? undefined : 'Chance may have made it.'},
    text + (isSure ? ' *' : '\u00a0\u00a0'));
}

// What goes behind the name of what one side alone has.
function wordPart({word, colour}) {
    return word === '' ? '' : make('b', {class: colour}, word);
}

// The functions of either side that are `found`, where that is given, by
// their difference: `sure` ones, the largest first, and the others.
function changedFunctions(page, state, by, found = null) {
    const {names} = page.profile;
    const {hits} = page.model.sums(state);
    const {hits: base} = page.model.base(state);
    const all = [];

    for (let fn = 0; fn < names.length; fn++)
        if ((hits[fn] > 0 || base[fn] > 0) && (found === null || found[fn]))
            all.push(fn);
    const comparison = new Comparison(page, state, all.length);
    const now = comparison.now[by], before = comparison.before[by];
    const sizes = new Float64Array(names.length);
    const sure = [], others = [];

    for (const fn of all) {
        sizes[fn] = Math.abs(comparison.step(now[fn], before[fn]));
        (comparison.isSure(now[fn], before[fn]) ? sure : others).push(fn);
    }
    return {comparison, sure: largest(sure, sizes), others, sizes};
}

// Numbers by falling size.
function largest(list, sizes) {
    return list.sort((a, b) => sizes[b] - sizes[a] || a - b);
}
