// SPDX-License-Identifier: MIT
// The page: its parts, what changes its state, and the keys for all of it.

const TITLES = {flame: 'Flame graph', tree: 'Call tree', bottom: 'Bottom-up',
    functions: 'Functions', function: 'Function', code: 'Code',
    marks: 'Marks', waits: 'Blocked'};
const HEAVIEST = 14, HEAVIEST_LINES = 4;
const SIDE_NAME = 30;   // characters that have room beside the view

class Page {
    constructor(profile, host) {
        this.profile = profile;
        this.model = new Model(profile);
        this.host = host;
        this.dragged = 'range';
        // Of the tabs, and of the keys that choose them.
        this.order = leadsWithWaits(profile)
            ? ['waits', ...VIEWS.filter((view) => view !== 'waits')] : VIEWS;
        this.readColours();
        this.views = {
            flame: new Flame(this),
            tree: new TreeView(this, {label: 'Call tree',
                heads: ['Hits (total)', 'Count (self)', 'Function Name']}),
            bottom: new TreeView(this, {label: 'Bottom-up tree',
                heads: ['Count (self)', 'Function Name'], isBottom: true}),
            functions: new FunctionsView(this),
            function: new FunctionView(this),
            code: new CodeView(this),
            marks: new MarksView(this),
            waits: new WaitsView(this),
        };
        this.compared = new CompareView(this);
        this.timeline = new Timeline(this);
        this.bar = new Bar(this);
        this.side = new Side(this);
        this.status = make('p', {class: 'status', role: 'status',
            'aria-live': 'polite'});
        this.body = make('div', {class: 'body', role: 'tabpanel',
            id: 'view'});
        host.append(this.timeline.element, this.bar.element, make('div',
            {class: 'work'}, make('div', {class: 'middle'}, this.body,
                this.status), this.side.element));
        addEventListener('hashchange', () => this.read());
        addEventListener('keydown', (event) => this.press(event));
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
            () => {
                this.readColours();
                this.show();
            });
    }

    readColours() {
        const style = getComputedStyle(document.documentElement);
        const colour = (name) => style.getPropertyValue('--' + name).trim();

        this.colours = {kinds: KINDS.map((_, i) => colour('k' + i))};
        for (const name of ['ground', 'panel', 'text', 'root', 'rootText',
            'dim', 'dimText', 'boxText', 'mark', 'running', 'blocked',
            'found', 'more', 'less', 'same', 'span'])
            this.colours[name] = colour(name);
    }

    // Takes the state from the address; what is not understood goes.
    read() {
        const hash = location.hash.slice(1);

        if (this.state && hash === this.written)
            return;
        this.state = readState(this.profile, hash);
        this.written = writeState(this.state);
        if (hash !== this.written && hash !== '')
            history.replaceState(null, '', '#' + this.written);
        this.show();
    }

    // Changes the state; `isSmall`: without a step of its own to go back to.
    change(changes, isSmall) {
        this.state = {...this.state, ...changes};
        this.written = writeState(this.state);
        if (this.written !== location.hash.slice(1)) {
            if (isSmall)
                history.replaceState(history.state, '', '#' + this.written);
            else
                history.pushState({jprof: true}, '', '#' + this.written);
        }
        this.show();
    }

    // The code of functions, as a promise; its block is read once.
    code() {
        if (this.coded === undefined)
            this.coded = readCode(this.profile);
        return this.coded;
    }

    // The weight of each of the code's spots in what is selected.
    spots(state, code) {
        const {model} = this, tree = model.tree(state);
        const key = JSON.stringify([state.range, state.process, state.below,
            state.thread, state.section, state.event, state.ops]);

        return model.keep('spots', key,
            () => weighSpots(this.profile, tree, state, code));
    }

    operate(kind, id, text = '') {
        if (this.state.ops.length < MOST_OPS)
            this.change({ops: [...this.state.ops, {kind, id, text}],
                zoom: []});
    }

    back() {
        if (history.state && history.state.jprof)
            history.back();
        else if (this.written !== '')
            this.change(readState(this.profile, ''));
    }

    show() {
        const view = this.view();
        const isOther = this.body.firstChild !== view.element;
        const isInside = this.body.contains(document.activeElement);

        if (isOther)
            this.body.replaceChildren(view.element);
        this.timeline.show(this.state);
        this.bar.show(this.state);
        view.show(this.state);
        this.side.show(this.state);
        // The keyboard stays in the view when another takes its place.
        if (isOther && isInside)
            this.focus(view);
    }

    focus({element}) {
        (element.matches('[tabindex]') ? element
            : element.querySelector('[tabindex]')).focus();
    }

    // The view that is shown: what is compared has a table of its own.
    view() {
        return this.state.view === 'functions' && this.model.base(this.state)
            ? this.compared : this.views[this.state.view];
    }

    describe(fn, total, self) {
        if (fn >= this.profile.names.length)
            return 'All: ' + number(periods(this.profile, total)) + ' periods';
        const whole = this.model.sums(this.state).whole;
        const module = this.profile.modules[this.profile.module[fn]];

        return `${this.profile.names[fn]} \u2014 Hits ${number(periods(
            this.profile, total))} (${percent(total, whole)})`
            + (self === undefined ? '' : `, Count ${number(periods(
                this.profile, self))} (${percent(self, whole)})`)
            + `; ${KINDS[this.profile.kind[fn]]}${module ? ', ' + module
                : ''}`;
    }

    tell(fn, total, self) {
        const base = this.model.base(this.state);

        this.status.textContent = base && fn < this.profile.names.length
            ? `${this.profile.names[fn]} \u2014 ` + describeBoth(this,
                this.state, fn) : this.describe(fn, total, self);
    }

    press(event) {
        const isText = event.target instanceof HTMLInputElement
            || event.target instanceof HTMLSelectElement;
        const view = /^[1-8]$/.test(event.key) ? this.order[event.key - 1]
            : '';

        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === 'Escape') {
            if (isText)
                event.target.blur();
            else
                this.back();
        } else if (isText) {
            return;
        } else if (view) {
            this.change({view});
            this.focus(this.view());
        } else if (event.key === '/') {
            this.bar.search.focus();
        } else {
            return;
        }
        event.preventDefault();
    }
}

// What is beside the view: the heaviest functions, and what can be done with
// the one that is chosen.
class Side {
    constructor(page) {
        this.page = page;
        this.chosen = make('section', {class: 'chosen'});
        this.lines = make('section', {class: 'heaviest'});
        this.heaviest = make('section', {class: 'heaviest'});
        this.element = make('aside', {'aria-label': 'Function'}, this.chosen,
            this.lines, this.heaviest);
    }

    show(state) {
        const sums = this.page.model.sums(state);

        this.showChosen(state, sums);
        this.showLines(state);
        const base = this.page.model.base(state);

        if (sums === this.sums && base === this.base
                && state.work === this.work)
            return;
        this.sums = sums;
        this.base = base;
        this.work = state.work;
        if (base)
            this.showChanges(state);
        else
            this.showHeaviest(sums);
    }

    showChanges(state) {
        const {page} = this;
        const {comparison, sure, others} = changedFunctions(page, state,
            'hits');
        const row = (fn) => {
            const {colour, text} = comparison.ofFunction('hits', fn);

            return make('li', {}, make('b', {class: colour}, text),
                button(fitting(shortName(page.profile, fn), SIDE_NAME), () => {
                    page.change({fn});
                    page.tell(fn);
                }, {class: 'link'}));
        };

        this.heaviest.replaceChildren(
            make('h2', {}, `Changed most (Hits): ${number(sure.length)} of `
                + `${number(sure.length + others.length)} surely`),
            make('ol', {}, ...sure.slice(0, HEAVIEST).map(row)),
            sure.length > 0 ? '' : make('p', {},
                'Chance may have made every difference.'));
    }

    // The chosen function's heaviest lines, once its code is read.
    showLines(state) {
        if (state.fn < 0) {
            this.lines.replaceChildren();
            return;
        }
        this.page.code().then((code) => {
            if (this.page.state === state)
                this.lines.replaceChildren(...this.lineParts(state, code));
        }, () => this.lines.replaceChildren());
    }

    lineParts(state, code) {
        const {profile} = this.page;
        // Of a function without time of its own no line is to be expected.
        const hint = this.page.model.sums(state).count[state.fn] > 0
            ? [make('p', {}, lineHint(profile, state.fn, code))] : [];

        if (!code.functions.has(state.fn))
            return profile.kind[state.fn] === OF_JIT ? hint : [];
        const sums = weighLines(profile, code, state.fn,
            this.page.spots(state, code));
        const top = heaviestLines(sums, HEAVIEST_LINES);

        return top.length === 0 ? hint : [
            make('h2', {}, 'Its heaviest lines'),
            make('ol', {}, ...top.map(({line, weight, group}) => {
                const file = code.files[group.file].replace(/^.*\//, '');
                const text = code.texts[group.file].get(line) || '';

                return make('li', {}, make('b', {}, percent(weight, sums.whole)),
                    button(`${file}:${line}  ${text.trim()}`,
                        () => this.page.change({view: 'code'}),
                        {class: 'link'}));
            }))];
    }

    showHeaviest(sums) {
        const {profile} = this.page;
        const top = [];

        for (let fn = 0; fn < profile.names.length; fn++) {
            if (sums.count[fn] === 0 || top.length === HEAVIEST
                    && sums.count[fn] <= sums.count[top[HEAVIEST - 1]])
                continue;
            top.push(fn);
            top.sort((a, b) => sums.count[b] - sums.count[a] || a - b);
            top.length = Math.min(top.length, HEAVIEST);
        }
        this.heaviest.replaceChildren(
            make('h2', {}, 'Heaviest in themselves (Count)'),
            make('ol', {}, ...top.map((fn) => make('li', {},
                make('b', {}, percent(sums.count[fn], sums.whole)),
                button(fitting(shortName(profile, fn), SIDE_NAME), () => {
                    this.page.tell(fn, sums.hits[fn], sums.count[fn]);
                    this.page.change({fn});
                }, {class: 'link'})))));
    }

    showChosen(state, sums) {
        const {page} = this, {profile} = page, fn = state.fn;

        if (fn < 0) {
            this.chosen.replaceChildren(make('p', {}, 'Choose a function to '
                + 'see its callers, callees and code. Drag on the timeline to '
                + 'select time; choose a name there to see it alone.'),
            make('p', {}, 'Keys: / search, 1 to 8 views, * heaviest path, '
                + 'Escape back.'));
            return;
        }
        const act = (text, kind, id) => button(text,
            () => page.operate(kind, id));

        this.chosen.replaceChildren(
            make('h2', {}, shortName(profile, fn)),
            make('details', {}, make('summary', {}, 'Whole name'),
                make('p', {class: 'whole'}, profile.names[fn])),
            make('p', {}, page.describe(fn, sums.hits[fn], sums.count[fn])
                .slice(profile.names[fn].length + 3) + (state.search ? ''
                : '; marked on the timeline')),
            make('p', {class: 'acts'},
                button('Callers and callees',
                    () => page.change({view: 'function'})),
                button('Code', () => page.change({view: 'code'})),
                act('Keep only', 'k', fn), act('Focus', 'f', fn),
                act('Hide', 'h', fn), act('Drop', 'd', fn),
                act('Hide module', 'm', profile.module[fn])));
    }
}
