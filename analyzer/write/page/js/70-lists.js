// SPDX-License-Identifier: MIT
// The functions as a table, and one function: its callers and callees, and
// tiers.

// Buttons that sort a table of functions.
function sortHeads(page) {
    return [['count', 'Count (self)'], ['hits', 'Hits (total)'],
        ['name', 'Function Name']].map(([sort, text]) => button(text,
        () => page.change({sort}), {'data-sort': sort}));
}

function byName({names}, order) {
    return order.sort((a, b) => names[a] < names[b] ? -1
        : names[a] > names[b] ? 1 : a - b);
}

class FunctionsView {
    constructor(page) {
        this.page = page;
        this.rows = new Rows({
            role: 'grid', rowRole: 'row', label: 'Functions',
            content: (i) => this.content(i),
            activate: (i) => page.change({fn: this.order[i],
                view: 'function'}),
            choose: (i) => this.choose(i),
        });
        this.heads = sortHeads(page);
        this.element = make('div', {class: 'list sorted'},
            make('div', {class: 'heads'}, ...this.heads), this.rows.element);
    }

    show(state) {
        const sums = this.page.model.sums(state);
        const found = state.search ? this.page.model.found(state) : null;

        for (const head of this.heads)
            head.setAttribute('aria-pressed',
                String(head.dataset.sort === state.sort));
        if (sums === this.sums && state.sort === this.sort
                && found === this.found) {
            this.rows.draw();
            return;
        }
        this.sums = sums;
        this.sort = state.sort;
        this.found = found;
        this.order = this.sorted(state);
        this.rows.show(this.order.length);
    }

    sorted(state) {
        const {count, hits} = this.sums;
        const order = [];

        for (let fn = 0; fn < this.page.profile.names.length; fn++)
            if (hits[fn] > 0 && (!this.found || this.found[fn]))
                order.push(fn);
        if (state.sort === 'name')
            return byName(this.page.profile, order);
        const [by, then] = state.sort === 'hits' ? [hits, count]
            : [count, hits];

        return order.sort((a, b) => by[b] - by[a] || then[b] - then[a]
            || a - b);
    }

    content(i) {
        const fn = this.order[i];

        return {attributes: {}, children: [
            ...figureCells(this.page, {first: this.sums.count[fn],
                second: this.sums.hits[fn], whole: this.sums.whole}),
            make('span', {class: 'tree', role: 'gridcell'},
                ...nameParts(this.page, fn))]};
    }

    choose(i) {
        const fn = this.order[i];

        this.page.tell(fn, this.sums.hits[fn], this.sums.count[fn]);
        this.page.change({fn}, true);
    }
}

// Callers above, the function, callees below, as in the hierarchical profile.
class FunctionView {
    constructor(page) {
        this.page = page;
        this.head = make('div', {class: 'one'});
        this.rows = new Rows({
            role: 'grid', rowRole: 'row', label: 'Callers and callees',
            content: (i) => this.content(i),
            activate: (i) => this.items[i].fn >= 0
                && page.change({fn: this.items[i].fn}),
        });
        this.element = make('div', {class: 'list'}, this.head,
            make('div', {class: 'heads'}, make('span', {}, 'Hits of the call'),
                make('span', {}, 'Function Name')), this.rows.element);
        this.items = [];
    }

    show(state) {
        const model = this.page.model, tree = model.tree(state);
        const sums = model.sums(state), fn = state.fn;

        this.sums = sums;
        if (fn < 0) {
            this.head.replaceChildren(make('p', {},
                'Choose a function in another view first.'));
            this.rows.show(0);
            return;
        }
        const title = (text) => ({fn: -1, text});
        const list = (calls) => calls.map(([other, weight]) => ({
            fn: other, weight, isSelf: other === fn}));
        const callers = list(callsOf(tree, sums, fn, true)).reverse();
        const callees = list(callsOf(tree, sums, fn, false));

        this.items = [title('Callers: ' + callers.length), ...callers,
            title('Callees: ' + callees.length), ...callees];
        this.showHead(fn, tiersOf(this.page.profile, tree,
            model.stacks(state, state.range, ''), fn));
        this.rows.show(this.items.length);
    }

    showHead(fn, tiers) {
        const page = this.page, {count, hits, whole} = this.sums;

        this.head.replaceChildren(
            make('h2', {}, page.profile.names[fn]),
            make('p', {}, `Count (self) ${number(periods(page.profile,
                count[fn]))}, ${percent(count[fn], whole)}; Hits (total) `
                + `${number(periods(page.profile, hits[fn]))}, `
                + `${percent(hits[fn], whole)}; ${KINDS[
                    page.profile.kind[fn]]}, ${page.profile.modules[
                    page.profile.module[fn]] || 'no module'}`),
            make('p', {class: 'acts'}, button('Code',
                () => page.change({view: 'code'}))),
            tiers.length > 1 || tiers.length === 1 && tiers[0][0] !== ''
                ? make('p', {}, 'Tiers, by Count: ' + tiers.map(
                    ([tier, weight]) => `${tier || 'other'} ${number(
                        periods(page.profile, weight))}`).join(', ')) : '');
    }

    content(i) {
        const item = this.items[i];

        if (item.fn < 0)
            return {attributes: {class: 'title'}, children: [
                make('span', {role: 'gridcell'}, item.text)]};
        return {attributes: {}, children: [
            ...figureCells(this.page, {first: item.weight,
                whole: this.sums.whole}),
            make('span', {class: 'tree', role: 'gridcell'},
                ...nameParts(this.page, item.fn),
                item.isSelf ? ' (self)' : '')]};
    }
}
