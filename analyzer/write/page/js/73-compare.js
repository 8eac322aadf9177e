// SPDX-License-Identifier: MIT
// Two ranges of time compared: functions by the difference of their shares,
// and stacks that are in one of the ranges alone.

const MOST_STACKS = 40, PATH_SHOWN = 4;

function shareIn(sums, weight) {
    return {weight, whole: sums.whole, samples: sums.samples};
}

// Functions of either range, those whose difference is no chance first, each
// with that of its Count and its Hits.
function compareFunctions(profile, now, before, {sort, found}) {
    const order = [];

    for (let fn = 0; fn < profile.names.length; fn++)
        if ((now.hits[fn] > 0 || before.hits[fn] > 0) && (!found || found[fn]))
            order.push(fn);
    const rows = order.map((fn) => {
        const [count, hits] = ['count', 'hits'].map((by) => compareShares(
            shareIn(now, now[by][fn]), shareIn(before, before[by][fn]),
            order.length));

        return {fn, count, hits, word: before.hits[fn] === 0 ? 'new'
            : now.hits[fn] === 0 ? 'vanished' : ''};
    });
    const by = sort === 'hits' ? 'hits' : 'count';
    const names = profile.names;

    return rows.sort(sort === 'name'
        ? (a, b) => names[a.fn] < names[b.fn] ? -1
            : names[a.fn] > names[b.fn] ? 1 : a.fn - b.fn
        : (a, b) => b[by].isSure - a[by].isSure
            || Math.abs(b[by].step) - Math.abs(a[by].step) || a.fn - b.fn);
}

// The topmost nodes that have weight in `one` and none in `other`, heaviest
// first.
function stacksOfOne(tree, one, other) {
    const list = [];

    for (let i = 1; i < tree.count; i++)
        if (one.total[i] > 0 && other.total[i] === 0
                && (tree.parent[i] === 0 || other.total[tree.parent[i]] > 0))
            list.push(i);
    return list.sort((a, b) => one.total[b] - one.total[a] || a - b);
}

// The functions from the root to a node.
function pathTo(tree, node) {
    const path = [];

    for (let at = node; at !== 0; at = tree.parent[at])
        path.unshift(tree.fn[at]);
    return path;
}

class CompareView {
    constructor(page) {
        this.page = page;
        this.text = make('p', {class: 'note', role: 'status'});
        this.rows = new Rows({
            role: 'grid', rowRole: 'row', label: 'Comparison',
            content: (i) => this.content(i),
            activate: (i) => this.open(i), choose: (i) => this.choose(i),
        });
        this.heads = [['count', 'Count (self)'], ['hits', 'Hits (total)'],
            ['name', 'Function Name']].map(([sort, text]) => button(text,
            () => page.change({sort}), {'data-sort': sort}));
        this.element = make('div', {class: 'list sorted compare'}, this.text,
            make('div', {class: 'heads'}, ...this.heads), this.rows.element);
        this.items = [];
    }

    show(state) {
        const {model, profile} = this.page, tree = model.tree(state);
        const now = model.sums(state), before = model.base(state);
        const found = state.search ? model.found(state) : null;

        for (const head of this.heads)
            head.setAttribute('aria-pressed',
                String(head.dataset.sort === state.sort));
        if (this.now === now && this.before === before
                && this.sort === state.sort && this.found === found) {
            this.rows.draw();
            return;
        }
        Object.assign(this, {now, before, tree, found, sort: state.sort});
        const rows = compareFunctions(profile, now, before, {
            sort: state.sort, found});
        const sure = rows.filter((row) => row.count.isSure || row.hits.isSure);

        this.text.textContent = `${sure.length} of ${rows.length} functions `
            + 'differ by more than chance: two standard errors, corrected for '
            + 'their number. Grey: no more than chance. Shares are of each '
            + 'range; + is more in the selected one.';
        this.items = [...this.stacks('New stacks', now, before),
            ...this.stacks('Vanished stacks', before, now)];
        this.items = [...rows, ...this.items];
        this.rows.show(this.items.length);
    }

    // Rows of the stacks that are in `one` alone.
    stacks(title, one, other) {
        const all = stacksOfOne(this.tree, one, other).map((node) => ({node,
            sums: one, difference: compareShares(
                shareIn(this.now, this.now.total[node]),
                shareIn(this.before, this.before.total[node]),
                this.tree.count)}));
        const sure = all.filter((row) => row.difference.isSure);

        return [{title: `${title}: ${all.length}, of which ${sure.length} `
            + 'are more than chance'}, ...all.slice(0, MOST_STACKS)];
    }

    content(i) {
        const item = this.items[i];

        if (item.title)
            return {attributes: {class: 'title'}, children: [
                make('span', {role: 'gridcell'}, item.title)]};
        if (item.node)
            return {attributes: {}, children: [
                this.cell(item.difference), make('span', {class: 'n'}),
                make('span', {class: 'tree', role: 'gridcell'},
                    make('span', {class: 'name'}, this.pathText(item.node)))]};
        return {attributes: {}, children: [this.cell(item.count),
            this.cell(item.hits),
            make('span', {class: 'tree', role: 'gridcell'},
                ...nameParts(this.page, item.fn),
                item.word ? make('b', {}, item.word) : '')]};
    }

    cell(difference) {
        return make('span', {class: 'n ' + (difference.isSure
            ? difference.colour : 'same'), role: 'gridcell'}, difference.text);
    }

    pathText(node) {
        const path = pathTo(this.tree, node).reverse();

        return path.slice(0, PATH_SHOWN)
            .map((fn) => shortName(this.page.profile, fn)).join(' \u2190 ')
            + (path.length > PATH_SHOWN ? ' \u2190 \u2026' : '');
    }

    fnOf(item) {
        return item.node ? this.tree.fn[item.node] : item.fn;
    }

    choose(i) {
        const item = this.items[i], fn = this.fnOf(item);

        if (item.title)
            return;
        this.page.tell(fn, this.now.hits[fn], this.now.count[fn]);
        this.page.change({fn}, true);
    }

    // A stack of the selected range opens in the flame graph, all else as the
    // function.
    open(i) {
        const item = this.items[i];

        if (item.title)
            return;
        if (item.node && item.sums === this.now)
            this.page.change({view: 'flame', fn: this.fnOf(item),
                zoom: pathTo(this.tree, item.node)});
        else
            this.page.change({view: 'function', fn: this.fnOf(item)});
    }
}
