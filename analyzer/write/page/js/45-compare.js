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
    const both = new Float64Array(now.total.length);

    for (let i = 0; i < both.length; i++)
        both[i] = now.total[i] / a + before.total[i] / b;
    return both;
}

// Time as people say it.
function duration(s) {
    const size = Math.abs(s);

    return size >= 1 ? s.toFixed(2) + ' s' : size >= 1e-3
        ? (s * 1e3).toFixed(2) + ' ms' : (s * 1e6).toFixed(1) + ' \u00b5s';
}

// Colour and text of the difference between a weight of `now` and one of
// `before`, both sums of a model.  Time is compared as shares are, its error
// being that of as many samples as it has of its side.
function compareWeights(page, state, {now, before, weight, base, comparisons}) {
    const {profile} = page;

    if (!profile.diff || !state.work)
        return compareShares({weight, whole: now.whole, samples: now.samples},
            {weight: base, whole: before.whole, samples: before.samples},
            comparisons);
    const [a, b] = wholes(profile, state, now, before);
    const mean = [now, before].map((one) => one.samples > 0
        ? one.whole / one.samples : 0);
    const error = Math.sqrt(Math.max(weight, mean[0]) * mean[0] / (a * a)
        + Math.max(base, mean[1]) * mean[1] / (b * b));
    const step = weight / a - base / b;
    const isSure = now.samples > 0 && before.samples > 0 && Math.abs(step)
        > Math.sqrt(4 + 2 * Math.log(Math.max(comparisons, 1))) * error;

    return {step, isSure, colour: !isSure ? 'same' : step > 0 ? 'more'
        : 'less', text: (step >= 0 ? '+' : '\u2212')
            + duration(Math.abs(step))};
}

// A word for what one side alone has.
function sideWord(weight, base, isSure) {
    return base > 0 && weight === 0 ? isSure ? 'vanished' : 'only before'
        : base === 0 && weight > 0 ? isSure ? 'new' : 'only after' : '';
}

// Both sides of a function in words.
function describeBoth(page, state, fn, base) {
    const now = page.model.sums(state), {profile} = page;
    const side = (sums) => `Count ${number(periods(profile, sums.count[fn]))} `
        + `(${percent(sums.count[fn], sums.whole)}), Hits ${number(periods(
            profile, sums.hits[fn]))} (${percent(sums.hits[fn], sums.whole)})`;
    const change = compareWeights(page, state, {now, before: base,
        weight: now.hits[fn], base: base.hits[fn],
        comparisons: profile.names.length});

    return `before: ${side(base)}; after: ${side(now)}; Hits ${change.text}`
        + (change.isSure ? '' : ', which chance may have made');
}

// A table's cell for a difference: signed, and marked where it is sure.
function changeCell(page, state, weights) {
    const {text, isSure, colour} = compareWeights(page, state, weights);
    const word = sideWord(weights.weight, weights.base, isSure);

    return make('span', {class: 'change ' + colour, role: 'gridcell',
        title: isSure ? undefined : 'Chance may have made it.'},
    text + (isSure ? ' *' : '\u00a0\u00a0') + (word === '' ? '' : ' '
        + word));
}

// The functions with a difference, the surest and largest first: [fn, change].
function changedFunctions(page, state) {
    const {model, profile} = page, now = model.sums(state);
    const before = model.base(state), list = [];
    let comparisons = 0;

    for (let fn = 0; fn < profile.names.length; fn++)
        comparisons += now.hits[fn] > 0 || before.hits[fn] > 0;
    for (let fn = 0; fn < profile.names.length; fn++)
        if (now.hits[fn] > 0 || before.hits[fn] > 0)
            list.push([fn, compareWeights(page, state, {now, before,
                weight: now.hits[fn], base: before.hits[fn], comparisons})]);
    return list.sort((a, b) => b[1].isSure - a[1].isSure
        || Math.abs(b[1].step) - Math.abs(a[1].step) || a[0] - b[0]);
}
