// SPDX-License-Identifier: MIT
// The bar above the views: which view, what is searched for, what is selected.

class Bar {
    constructor(page) {
        this.page = page;
        this.tabs = page.order.map((view) => button(TITLES[view],
            () => page.change({view}), {role: 'tab', 'data-view': view,
                'aria-controls': 'view', hidden: view === 'marks'
                    && page.profile.marks.name.length === 0
                    || view === 'waits' && page.profile.waits === null}));
        this.search = make('input', {type: 'search', maxlength: MOST_TEXT,
            placeholder: 'Search, or /regex/', 'aria-label':
                'Search functions by text, or by a pattern between slashes',
            input: () => this.look()});
        this.result = make('span', {class: 'result', role: 'status'});
        this.only = button('Only matches', () => this.keepMatches());
        this.collapse = this.switch('Collapse recursion', 'collapse');
        this.up = this.switch('Roots at the bottom', 'up');
        this.from = this.moment('From');
        this.to = this.moment('To');
        this.clear = button('All time',
            () => page.change({range: null, base: null}));
        this.compare = button('Compare with\u2026', () => this.pickBase());
        this.whole = make('span', {class: 'whole'});
        this.work = page.profile.diff ? this.switch(page.profile.diff.isWork
            ? 'Time for a unit of work' : 'Time in place of shares', 'work')
            : null;
        this.compare.hidden = page.profile.diff !== null;
        this.event = this.choice('Event', page.profile.event, EVENTS, 'event');
        this.section = this.sections();
        this.chips = make('span', {class: 'chips'});
        this.element = make('div', {class: 'bar'},
            make('div', {class: 'line', role: 'tablist', 'aria-label': 'View',
                keydown: (event) => this.turn(event)}, ...this.tabs),
            make('div', {class: 'line'}, this.search, this.only, this.result,
                this.collapse, this.up, this.work || '', button('Back', () => page.back()),
                this.legend()),
            make('div', {class: 'line'}, this.whole, this.from.label,
                this.to.label, this.clear, this.compare, this.event || '',
                this.section || '', this.chips));
    }

    // Arrow keys go from tab to tab.
    turn(event) {
        const at = this.tabs.indexOf(document.activeElement);
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];

        if (at < 0 || !step)
            return;
        const shown = this.tabs.filter((tab) => !tab.hidden);
        const next = shown[(shown.indexOf(this.tabs[at]) + step
            + shown.length) % shown.length];

        next.focus();
        this.page.change({view: next.dataset.view});
        event.preventDefault();
    }

    switch(text, name) {
        return button(text,
            () => this.page.change({[name]: !this.page.state[name],
                ...(name === 'collapse' ? {zoom: []} : {})}),
            {'data-switch': name});
    }

    moment(text) {
        const input = make('input', {type: 'number', min: 0, step: 'any',
            change: () => this.setRange()});

        return {input, label: make('label', {class: 'moment'}, text + ' ',
            input, ' s')};
    }

    setRange() {
        const last = this.page.profile.last;
        const [from, to] = [this.from, this.to].map(({input}) => Math.round(
            Number(input.value) * 1e6));
        const end = this.to.input.value === '' ? last : to;

        if (from < end && from >= 0 && from < last)
            this.page.change({range: from === 0 && end >= last ? null
                : [from, end]});
        else
            this.show(this.page.state);
    }

    // The range drags on the timeline that a comparison is with.
    pickBase() {
        const page = this.page;

        if (page.state.base) {
            page.dragged = 'range';
            page.change({base: null});
        } else {
            page.dragged = page.dragged === 'base' ? 'range' : 'base';
            this.show(page.state);
        }
    }

    // A choice among those numbers of `names` that are in `values`.
    choice(text, values, names, state) {
        const there = new Uint8Array(names.length);

        for (let i = 0; i < values.length; i++)
            there[values[i]] = 1;
        const choices = names.map((name, i) => [i, name])
            .filter(([i]) => there[i] === 1);

        return choices.length < 2 ? null : this.select(text, choices, state);
    }

    select(text, choices, state) {
        const select = make('select', {'data-state': state, change: () =>
            this.page.change({[state]: Number(select.value)})},
        make('option', {value: -1}, 'all'),
        ...choices.map(([value, name]) => make('option', {value}, name)));

        return make('label', {}, text + ' ', select);
    }

    sections() {
        const count = Math.min(sectionCount(this.page.profile), 500);

        return count < 2 ? null : this.select('Section', Array.from(
            {length: count}, (_, i) => [i, String(i)]), 'section');
    }

    look() {
        const search = this.search.value;

        this.page.change({search}, this.page.state.search !== '');
    }

    keepMatches() {
        const text = this.page.state.search;

        if (text !== '' && matcher(text))
            this.page.operate('q', -1, text);
    }

    legend() {
        return make('span', {class: 'legend'}, ...KINDS.map((kind, i) =>
            make('span', {}, make('i', {class: 'kind k' + i},
                kind.slice(0, 1)), make('span', {class: 'w' + i}, kind))));
    }

    show(state) {
        const {page} = this, sums = page.model.sums(state);

        for (const tab of this.tabs) {
            const isOn = tab.dataset.view === state.view;

            // A hidden tab would leave the others out of the keyboard's reach.
            if (isOn)
                tab.hidden = false;
            tab.setAttribute('aria-selected', String(isOn));
            tab.tabIndex = isOn ? 0 : -1;
        }
        for (const one of [this.collapse, this.up, this.work].filter(Boolean))
            one.setAttribute('aria-pressed',
                String(state[one.dataset.switch]));
        if (document.activeElement !== this.search)
            this.search.value = state.search;
        this.showResult(state, sums);
        this.whole.replaceChildren(make('b', {},
            number(periods(page.profile, sums.whole))), ' periods, ',
        make('b', {}, number(sums.samples)), page.profile.slice > 0
            ? ` samples, those in ${page.profile.slice / 1e6} ms being one`
            : ' samples');
        if (page.profile.diff)
            this.showSides(state, sums);
        this.showRange(state);
        for (const select of this.element.querySelectorAll('select'))
            select.value = String(state[select.dataset.state]);
        this.showChips(state);
    }

    // With --diff: what each side is, and what the colours mean.
    showSides(state, sums) {
        const {profile, model} = this.page, base = model.base(state);
        const side = (name, of) => [make('b', {}, name), ` ${number(periods(
            profile, of.whole))} periods, ${number(of.samples)} samples `];

        this.whole.replaceChildren(...side('Before', base), '\u2192 ',
            ...side('After', sums), make('span', {class: 'more'},
                '+ more'), ' ', make('span', {class: 'less'},
                '\u2212 less'), ' ', make('span', {class: 'same'},
                '(grey: chance)'));
    }

    showRange(state) {
        const range = state.range || [0, this.page.profile.last];

        this.from.input.value = String(range[0] / 1e6);
        this.to.input.value = String(range[1] / 1e6);
        this.clear.disabled = !state.range && !state.base;
        this.compare.textContent = state.base ? 'End comparison'
            : this.page.dragged === 'base' ? 'Drag the other range\u2026'
                : 'Compare with\u2026';
        if (state.base)
            this.page.dragged = 'range';
        this.compare.setAttribute('aria-pressed', String(Boolean(state.base)
            || this.page.dragged === 'base'));
    }

    showResult(state, sums) {
        this.only.disabled = state.search === '';
        this.result.textContent = state.search === '' ? ''
            : matcher(state.search) === null
                ? 'no pattern that can be searched for'
                : percent(this.page.model.matched(state).weight, sums.whole)
                    + ' matched';
    }

    // The process that is selected, with its command to point at.
    processChip({name, command, pid}, below) {
        return button(`Process ${name.slice(0, 40)} ${pid}${below
            ? ' and below' : ''} \u00d7`,
        () => this.page.change({process: -1, below: false}),
            {class: 'chip', title: command.slice(0, 1000) || undefined});
    }

    showChips(state) {
        const {page} = this, {profile} = page;
        const chips = state.ops.map((op, i) => button(
            `${OPS[op.kind]}: ${op.kind === 'q' ? op.text : op.kind === 'm'
                ? profile.modules[op.id] : shortName(profile, op.id)} \u00d7`,
            () => page.change({ops: state.ops.filter((_, j) => j !== i),
                zoom: []}), {class: 'chip'}));

        if (state.thread >= 0)
            chips.unshift(button(`Thread ${profile.threads[state.thread].tid}`
                + ' \u00d7', () => page.change({thread: -1, process: -1}),
            {class: 'chip'}));
        else if (state.process >= 0)
            chips.unshift(this.processChip(profile.processes[state.process],
                state.below));
        if (state.zoom.length > 0)
            chips.push(button('Zoom \u00d7', () => page.change({zoom: []}),
                {class: 'chip'}));
        this.chips.replaceChildren(...chips);
    }
}
