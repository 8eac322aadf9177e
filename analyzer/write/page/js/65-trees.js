// SPDX-License-Identifier: MIT
// The call tree and the bottom-up tree: rows that open.

const MOST_OPEN = 20000, MOST_LEVEL = 40;

// Cells of a row: two figures and their shares, then the name.
function figureCells(page, {first, second, whole}) {
    const cells = [];

    for (const weight of [first, second]) {
        if (weight === undefined)
            continue;
        cells.push(
            make('span', {class: 'n', role: 'gridcell'},
                number(periods(page.profile, weight))),
            make('span', {class: 'p', role: 'gridcell'},
                percent(weight, whole)));
    }
    return cells;
}

// The name of a function with a mark of its kind.
function nameParts(page, fn) {
    if (fn >= page.profile.names.length)
        return [make('span', {class: 'name'}, 'all')];
    const kind = page.profile.kind[fn];

    return [
        make('i', {class: 'kind k' + kind}, KINDS[kind].slice(0, 1)),
        make('span', {class: 'name'}, shortName(page.profile, fn)),
        make('small', {}, page.profile.modules[page.profile.module[fn]])];
}

class TreeView {
    constructor(page, {label, heads, isBottom}) {
        this.page = page;
        this.isBottom = isBottom;
        this.rows = new Rows({
            role: 'treegrid', rowRole: 'row', label,
            content: (i) => this.content(i),
            activate: (i) => this.toggle(i),
            choose: (i) => this.choose(i),
            key: (event, i) => this.press(event, i),
        });
        this.change = make('span', {class: 'change', hidden: true}, 'Change');
        this.element = make('div', {class: 'list'},
            make('div', {class: 'heads'}, this.change,
                ...heads.map((text) => make('span', {}, text))),
            this.rows.element);
        this.items = [];
    }

    show(state) {
        const tree = this.page.model.tree(state);
        const sums = this.page.model.sums(state);

        this.found = state.search ? this.page.model.found(state) : null;
        const base = this.page.model.base(state);

        this.change.hidden = base === null;
        this.element.classList.toggle('compared', base !== null);
        this.state = state;
        if (this.tree === tree && this.sums === sums && this.base === base
                && this.work === state.work) {
            this.rows.draw();
            return;
        }
        this.tree = tree;
        this.sums = sums;
        this.base = base;
        this.work = state.work;
        this.weights = this.page.model.shown(state);
        this.items = this.isBottom ? this.leaves() : this.below(0, 1);
        this.rows.show(this.items.length);
        if (!this.isBottom)
            this.openHeaviest(0, 0.5);
    }

    // Bottom-up: functions with a Count; where each is, is found when it
    // opens.
    leaves() {
        const {count} = this.sums, order = [];

        for (let fn = 0; fn < count.length; fn++)
            if (count[fn] > 0 || this.base && this.base.count[fn] > 0)
                order.push(fn);
        return order.sort((a, b) => count[b] - count[a] || a - b)
            .map((fn) => ({fn, weight: count[fn], level: 1, isOpen: false,
                self: count[fn], nodes: null}));
    }

    findNodes(item) {
        const {tree, sums} = this;

        item.nodes = [];
        item.weights = [];
        for (let i = 1; i < tree.count; i++)
            if (tree.fn[i] === item.fn && sums.self[i] > 0) {
                item.nodes.push(i);
                item.weights.push(sums.self[i]);
            }
    }

    below(node, level) {
        return childrenOf(this.tree, this.weights, node, 0).map((child) => ({
            fn: this.tree.fn[child], node: child, level, isOpen: false,
            weight: this.sums.total[child], self: this.sums.self[child]}));
    }

    childItems(item) {
        if (!this.isBottom)
            return this.below(item.node, item.level + 1);
        const groups = new Map();

        if (item.nodes === null)
            this.findNodes(item);
        for (let i = 0; i < item.nodes.length; i++) {
            const above = this.tree.parent[item.nodes[i]];

            if (above !== 0)
                addNode(groups, this.tree.fn[above], above, item.weights[i]);
        }
        return listOf(groups, item.level + 1);
    }

    hasChildren(item) {
        if (this.isBottom)
            return item.nodes === null
                || item.nodes.some((node) => this.tree.parent[node] !== 0);
        return item.weight > item.self || this.base !== null
            && this.base.total[item.node] > this.base.self[item.node];
    }

    content(i) {
        const item = this.items[i];
        const opens = this.hasChildren(item);
        const difference = this.difference(item);
        const name = make('span', {class: 'tree', role: 'gridcell'},
            make('span', {class: 'toggle', 'data-toggle': opens},
                opens ? item.isOpen ? '\u25be' : '\u25b8' : ''),
            ...nameParts(this.page, item.fn),
            difference ? wordPart(difference) : '');

        name.style.paddingLeft
            = Math.min(item.level - 1, MOST_LEVEL)
            * (innerWidth < 600 ? 4 : 12) + 'px';
        return {attributes: {
            'aria-level': item.level,
            'aria-expanded': opens ? String(item.isOpen) : undefined,
            class: this.found && this.found[item.fn] ? 'found' : ''},
        children: [...(this.base ? [difference ? changeCell(difference)
            : make('span', {class: 'change', role: 'gridcell'})] : []),
        ...figureCells(this.page, {first: item.weight,
            second: this.isBottom ? undefined : item.self,
            whole: this.sums.whole}), name]};
    }

    // How the row differs from what is compared with, or null; callers of a
    // bottom-up row are shares of it, and have none.
    difference(item) {
        if (!this.base || this.isBottom && item.level > 1)
            return null;
        return new Comparison(this.page, this.state, this.items.length).tell(
            item.weight, this.isBottom ? this.base.count[item.fn]
                : this.base.total[item.node]);
    }

    choose(i) {
        const item = this.items[i];

        this.page.tell(item.fn, item.weight, item.self);
        this.page.change({fn: item.fn}, true);
    }

    toggle(i) {
        if (this.items[i].isOpen)
            this.close(i);
        else
            this.open(i);
        this.rows.show(this.items.length, true);
    }

    open(i) {
        const item = this.items[i];

        if (item.isOpen || this.items.length > MOST_OPEN
                || !this.hasChildren(item))
            return;
        item.isOpen = true;
        this.items = [...this.items.slice(0, i + 1), ...this.childItems(item),
            ...this.items.slice(i + 1)];
    }

    close(i) {
        let end = i + 1;

        while (end < this.items.length
                && this.items[end].level > this.items[i].level)
            end++;
        this.items.splice(i + 1, end - i - 1);
        this.items[i].isOpen = false;
    }

    // Opens the path of heaviest children while each has that share of its
    // parent.
    openHeaviest(i, share) {
        for (let steps = 0; steps < 200 && i < this.items.length; steps++) {
            this.open(i);
            const next = this.items[i + 1];

            if (!next || next.level <= this.items[i].level
                    || next.weight < share * this.items[i].weight)
                break;
            i++;
        }
        this.rows.show(this.items.length, true);
        return i;
    }

    press(event, i) {
        const item = this.items[i];

        if (event.key === 'toggle') {
            this.toggle(i);
        } else if (event.key === 'ArrowRight' && !item.isOpen) {
            this.open(i);
            this.rows.show(this.items.length, true);
        } else if (event.key === 'ArrowRight') {
            this.rows.select(i + 1);
        } else if (event.key === 'ArrowLeft' && item.isOpen) {
            this.toggle(i);
        } else if (event.key === 'ArrowLeft') {
            while (i > 0 && this.items[i].level >= item.level)
                i--;
            this.rows.select(i);
        } else if (event.key === '*') {
            this.rows.select(this.openHeaviest(i, 0));
        } else {
            return false;
        }
        return true;
    }
}

function addNode(groups, fn, node, weight) {
    let group = groups.get(fn);

    if (!group)
        groups.set(fn, group = {fn, weight: 0, nodes: [], weights: []});
    group.weight += weight;
    group.nodes.push(node);
    group.weights.push(weight);
}

function listOf(groups, level) {
    return [...groups.values()].map((group) => ({...group, level,
        isOpen: false, self: undefined}))
        .sort((a, b) => b.weight - a.weight || a.fn - b.fn);
}
