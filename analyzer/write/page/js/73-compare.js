// SPDX-License-Identifier: MIT
// Two ranges of time or two profiles compared: functions by their difference,
// and stacks that are on one side alone.

const MOST_STACKS = 40, PATH_SHOWN = 4;

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
        this.heads = sortHeads(page);
        this.element = make('div', {class: 'list sorted compare'}, this.text,
            make('div', {class: 'heads'}, ...this.heads), this.rows.element);
        this.items = [];
    }

    show(state) {
        const {model} = this.page, tree = model.tree(state);
        const now = model.sums(state), before = model.base(state);
        const found = state.search ? model.found(state) : null;
        // What has no order of its own is by Hits.
        const sort = state.sort === 'change' ? 'hits' : state.sort;

        for (const head of this.heads)
            head.setAttribute('aria-pressed',
                String(head.dataset.sort === sort));
        if (this.now === now && this.before === before
                && this.sort === sort && this.found === found
                && this.work === state.work) {
            this.rows.draw();
            return;
        }
        Object.assign(this, {now, before, tree, found, sort,
            work: state.work});
        this.items = [...this.functions(state),
            ...this.stacks(state, 'New stacks', now, before),
            ...this.stacks(state, 'Vanished stacks', before, now)];
        this.rows.show(this.items.length);
    }

    // Rows of functions; what is told above them.
    functions(state) {
        const {page} = this;
        const {comparison, sure, others, sizes} = changedFunctions(page, state,
            this.sort === 'count' ? 'count' : 'hits', this.found);
        const all = this.sort === 'name'
            ? byName(page.profile, [...sure, ...others])
            : [...sure, ...largest(others, sizes)];

        this.comparison = comparison;
        this.text.textContent = `${number(sure.length)} of `
            + `${number(all.length)} functions differ in ${this.sort
                === 'count' ? 'Count' : 'Hits'} by more than chance (*): two `
            + 'standard errors, corrected for their number. + is more in '
            + (page.profile.diff ? 'the profile after; ' : 'the selected '
                + 'range; ') + (comparison.isTime ? 'time for a unit of work.'
            : 'shares are of each side.');
        return all.map((fn) => ({fn}));
    }

    // Rows of the stacks that are in `one` alone.
    stacks(state, title, one, other) {
        const comparison = new Comparison(this.page, state, this.tree.count);
        const all = stacksOfOne(this.tree, one, other);
        const sure = all.filter((node) => comparison.isSure(
            this.now.total[node], this.before.total[node]));

        return [{title: `${title}: ${number(all.length)}, of which `
            + `${number(sure.length)} are more than chance`},
        ...all.slice(0, MOST_STACKS).map((node) => ({node, sums: one,
            difference: comparison.ofNode(node)}))];
    }

    content(i) {
        const item = this.items[i];

        if (item.title)
            return {attributes: {class: 'title'}, children: [
                make('span', {role: 'gridcell'}, item.title)]};
        if (item.node)
            return {attributes: {}, children: [
                changeCell(item.difference), make('span', {class: 'change'}),
                make('span', {class: 'tree', role: 'gridcell'},
                    make('span', {class: 'name'}, this.pathText(item.node)))]};
        return {attributes: {}, children: [
            ...['count', 'hits'].map((by) => changeCell(
                this.comparison.ofFunction(by, item.fn))),
            make('span', {class: 'tree', role: 'gridcell'},
                ...nameParts(this.page, item.fn),
                wordPart(this.comparison.ofFunction('hits', item.fn)))]};
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
