// SPDX-License-Identifier: MIT
// The marks of the program as a list: names with their sums, and below each
// its marks, longest first.  Enter selects the time of one.

class MarksView {
    constructor(page) {
        this.page = page;
        this.text = make('p', {class: 'note', role: 'status'});
        this.rows = new Rows({
            role: 'treegrid', rowRole: 'row', label: 'Marks of the program',
            content: (i) => this.content(i),
            activate: (i) => this.open(i),
            key: (event, i) => this.press(event, i),
            choose: (i) => this.choose(i),
        });
        this.element = make('div', {class: 'list marks'}, this.text,
            make('div', {class: 'heads'}, make('span', {}, 'Seconds'),
                make('span', {}, 'At second'), make('span', {}, 'Name')),
            this.rows.element);
        this.opened = new Set();
    }

    show(state) {
        const {profile} = this.page;
        const key = `${state.process} ${state.below} ${state.thread} `
            + state.search;

        if (key !== this.key) {
            this.key = key;
            this.groups = this.group(state);
            this.list();
        } else {
            this.rows.draw();
        }
        this.text.textContent = profile.marks.name.length === 0
            ? 'The program gave no marks (jprof_mark, jprof_span_begin).'
            : 'Enter selects the time of a span, for all that is shown.'
                + (profile.marks.more > 0 ? ` ${number(profile.marks.more)} `
                    + 'shorter ones are not in the page.' : '');
    }

    // By name: its marks, longest first, and what they sum up to.
    group(state) {
        const {profile} = this.page, {marks} = profile, groups = new Map();
        const wanted = state.search ? matcher(state.search) : null;
        const inside = state.process >= 0 && state.below
            ? withBelow(profile, state.process) : null;
        const isOther = (process) => inside ? inside[process] === 0
            : state.process >= 0 && process !== state.process;

        for (let i = 0; i < marks.name.length; i++) {
            const name = marks.name[i];

            if (isOther(marks.process[i])
                    || state.thread >= 0 && marks.thread[i] !== state.thread
                    || wanted && !wanted(marks.names[name]))
                continue;
            if (!groups.has(name))
                groups.set(name, {name, whole: 0, marks: []});
            groups.get(name).whole += marks.to[i] - marks.from[i];
            groups.get(name).marks.push(i);
        }
        const length = (i) => marks.to[i] - marks.from[i];

        for (const group of groups.values())
            group.marks.sort((a, b) => length(b) - length(a) || a - b);
        return [...groups.values()].sort((a, b) => b.whole - a.whole
            || b.marks.length - a.marks.length || a.name - b.name);
    }

    list() {
        this.items = [];
        for (const group of this.groups) {
            this.items.push({group, mark: -1});
            if (this.opened.has(group.name))
                for (const mark of group.marks)
                    this.items.push({group, mark});
        }
        this.rows.show(this.items.length, true);
    }

    content(i) {
        const {group, mark} = this.items[i], {profile} = this.page;
        const {marks} = profile, isOpen = this.opened.has(group.name);
        const cell = (text) => make('span', {class: 'n', role: 'gridcell'},
            text);

        if (mark < 0)
            return {attributes: {'aria-level': 1,
                'aria-expanded': String(isOpen)}, children: [
                cell((group.whole / 1e6).toFixed(6)), cell(''),
                make('span', {class: 'tree', role: 'gridcell'},
                    make('span', {class: 'toggle', 'data-toggle': true},
                        isOpen ? '\u25be' : '\u25b8'),
                    `${marks.names[group.name]} (${number(
                        group.marks.length)})`)]};
        const thread = profile.threads[marks.thread[mark]];

        return {attributes: {'aria-level': 2,
            class: this.isRange(mark) ? 'picked' : ''}, children: [
            cell(((marks.to[mark] - marks.from[mark]) / 1e6).toFixed(6)),
            cell((marks.from[mark] / 1e6).toFixed(6)),
            make('span', {class: 'tree deep', role: 'gridcell'},
                (marks.kind[mark] > 1 ? MARK_KINDS[marks.kind[mark]] + ', '
                    : '') + (thread ? `thread ${thread.tid} ${thread.name}`
                    : `pid ${profile.processes[marks.process[mark]].pid}`))]};
    }

    isRange(mark) {
        const {range} = this.page.state;

        return range !== null && markRange(this.page.profile, mark).every(
            (us, i) => us === range[i]);
    }

    toggle(group) {
        if (!this.opened.delete(group.name))
            this.opened.add(group.name);
        this.list();
    }

    open(i) {
        const {group, mark} = this.items[i];

        if (mark < 0)
            this.toggle(group);
        else
            this.page.change({range: markRange(this.page.profile, mark)});
    }

    choose(i) {
        const {group, mark} = this.items[i], {marks} = this.page.profile;

        this.page.status.textContent = mark < 0
            ? `${marks.names[group.name]}: ${number(group.marks.length)}`
            : markText(marks, mark);
    }

    press(event, i) {
        const {group, mark} = this.items[i];
        const isOpen = this.opened.has(group.name);

        if (mark < 0 && (event.key === 'toggle' || event.key === ' '
                || event.key === 'ArrowRight' && !isOpen
                || event.key === 'ArrowLeft' && isOpen)) {
            this.toggle(group);
            return true;
        }
        return false;
    }
}
