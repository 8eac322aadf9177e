// SPDX-License-Identifier: MIT
// What a profile of real time leads with: the calls that blocked, by the
// function of the program that made them.

// Whether the page begins with them.
function leadsWithWaits(profile) {
    return profile.waits !== null && profile.waits.fn.length > 0;
}

function plural(count, word) {
    return number(count) + ' ' + word + (count === 1 ? '' : 's');
}

class WaitsView {
    constructor(page) {
        this.page = page;
        this.note = make('p', {class: 'note'});
        this.rows = new Rows({
            role: 'grid', rowRole: 'row', label: 'Calls that blocked. Enter '
                + 'shows where.',
            content: (i) => this.content(i),
            activate: (i) => this.open(i),
            choose: (i) => this.choose(i),
        });
        this.element = make('div', {class: 'list waits'}, this.note,
            make('div', {class: 'heads'}, ...['Seconds', 'Share',
                '\u00b1 s', 'Threads', 'Function: call'].map((text) =>
                make('span', {}, text))), this.rows.element);
        this.items = [];
    }

    show(state) {
        const {profile, model} = this.page;

        if (profile.waits === null) {
            this.note.textContent = 'Only a profile of real time (jprof '
                + '--wall) tells what blocked.';
            this.rows.show(0);
            return;
        }
        const waits = model.waits(state);
        const found = state.search ? model.found(state) : null;

        if (waits === this.waits && found === this.found) {
            this.rows.draw();
            return;
        }
        this.waits = waits;
        this.found = found;
        this.items = found ? waits.filter(({fn, call}) => found[fn]
            || found[call]) : waits;
        this.whole = waits.reduce((sum, one) => sum + one.time, 0);
        this.note.textContent = this.words(state, waits);
        this.rows.show(this.items.length);
    }

    // What stands above the table.
    words(state, waits) {
        const idle = waits.reduce((sum, one) => sum + one.idle, 0);

        if (state.event >= 0 && state.event !== BLOCKED)
            return 'The event that is selected leaves out what blocked.';
        if (waits.length === 0)
            return 'Nothing blocked in what is selected.';
        if (this.items.length === 0)
            return 'The search finds none of the '
                + `${plural(waits.length, 'function')} that blocked.`;
        return `Blocked for ${duration(this.whole / 1e9)}, by the program's `
            + 'function that made the call'
            + (idle > 0 ? `, without ${plural(idle, 'thread')} that always `
                + 'waited in one place' : '') + '. A click on a name shows '
            + 'who called it.';
    }

    name({fn, call}) {
        const {profile} = this.page;

        return shortName(profile, fn)
            + (call === fn ? '' : ': ' + shortName(profile, call));
    }

    // One of both figures, what else there is behind the name.
    content(i) {
        const row = this.items[i], {profile} = this.page;
        const isIdle = row.time === 0;
        const cell = (kind, text) => make('span', {class: kind,
            role: 'gridcell'}, text);
        const kind = profile.kind[row.fn];

        return {attributes: {}, children: [
            cell('n', ((isIdle ? row.idleTime : row.time) / 1e9).toFixed(3)),
            cell('p', isIdle ? '' : percent(row.time, this.whole)),
            cell('p', isIdle || profile.slice > 0 ? ''
                : (row.error / 1e9).toFixed(3)),
            cell('p', number(isIdle ? row.idle : row.threads)),
            make('span', {class: 'tree', role: 'gridcell'},
                make('i', {class: 'kind k' + kind}, KINDS[kind].slice(0, 1)),
                button(isIdle ? `${plural(row.idle, 'thread')} idle in `
                    + this.name(row) : this.name(row), () => this.open(i),
                {class: 'link name', tabindex: -1}),
                !isIdle && row.idle > 0 ? make('small', {}, `besides, ${plural(
                    row.idle, 'thread')} always idle there: ${duration(
                    row.idleTime / 1e9)}`) : '')]};
    }

    choose(i) {
        const row = this.items[i], {page} = this, {profile} = page;

        page.status.textContent = profile.names[row.fn] + (row.call === row.fn
            ? '' : ': ' + profile.names[row.call]);
        page.change({fn: row.fn}, true);
    }

    // The blocked time of the function, with who called it and what it called.
    open(i) {
        const {fn} = this.items[i], {page} = this, {ops} = page.state;
        const isKept = ops.length >= MOST_OPS
            || ops.some(({kind, id}) => kind === 'k' && id === fn);

        page.change({view: 'flame', event: BLOCKED, fn, zoom: [],
            ops: isKept ? ops : [...ops, {kind: 'k', id: fn, text: ''}]});
        page.focus(page.view());
        const sums = page.model.sums(page.state);

        page.tell(fn, sums.hits[fn], sums.count[fn]);
    }
}
