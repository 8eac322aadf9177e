// SPDX-License-Identifier: MIT
// The timeline: lanes over time, with sections, pauses and the selected range.

const LANE = 22, AXIS = 26, MOST_BINS = 1600, STRIP = 6, NEAR = 4;

class Timeline {
    constructor(page) {
        this.page = page;
        this.lanes = makeLanes(page.profile);
        this.list = listLanes(this.lanes);
        this.axis = make('canvas', {class: 'axis'});
        this.range = make('div', {class: 'range', hidden: true});
        this.base = make('div', {class: 'range base', hidden: true});
        this.rows = new Rows({
            role: 'treegrid', rowRole: 'row', label: 'Timeline: processes and '
                + 'threads. Enter selects one.',
            content: (i) => this.content(i),
            activate: (i) => this.pick(i),
            key: (event, i) => this.press(event, i),
            choose: (i) => {
                page.status.textContent = this.list[i].lane.title;
            },
        });
        this.element = make('section', {class: 'timeline',
            'aria-label': 'Timeline',
            pointerdown: (event) => this.begin(event),
            pointermove: (event) => this.move(event),
            pointerup: (event) => this.end(event),
            pointercancel: () => { this.drag = null; },
        }, this.axis, this.rows.element, this.range, this.base);
        new ResizeObserver(() => this.place().width !== this.width
            && this.draw()).observe(this.element);
    }

    // Where the lanes' label ends, and how wide they are.
    place() {
        const width = this.element.clientWidth;
        const label = width < 600 ? 118 : width < 1100 ? 190 : 240;

        return {label, width: Math.max(width - label - 12, 10)};
    }

    show(state) {
        const wanted = {event: state.event, matched: this.matched(state)};

        this.state = state;
        if (!this.wanted || wanted.event !== this.wanted.event
                || wanted.matched !== this.wanted.matched) {
            this.wanted = wanted;
            this.picked = null;
        }
        const picked = `${state.process} ${state.thread}`;

        if (picked !== this.picked) {
            this.width = this.place().width;
            this.colours = this.page.colours;
            this.showLanes();
        }
        this.picked = picked;
        this.draw();
    }

    showLanes() {
        this.list = listLanes(this.lanes);
        this.rows.element.style.height
            = Math.min(this.list.length, 8) * LANE + 'px';
        this.rows.show(this.list.length, true);
    }

    // By stack: whether it holds a function that is searched for or chosen.
    matched(state) {
        if (!state.search && state.fn < 0)
            return null;
        const {model} = this.page;
        const {marks} = model.matched(state), tree = model.tree(state);

        if (this.lastMarks !== marks) {
            this.lastMarks = marks;
            this.byStack = new Uint8Array(tree.nodeOf.length);
            for (let i = 0; i < this.byStack.length; i++)
                this.byStack[i] = tree.nodeOf[i] > 0 ? marks[tree.nodeOf[i]]
                    : 0;
        }
        return this.byStack;
    }

    draw() {
        if (!this.state)
            return;
        const {label, width} = this.place(), {colours} = this.page;

        if (width !== this.width || colours !== this.colours) {
            this.width = width;
            this.colours = colours;
            this.rows.draw();
        }
        if (width !== this.drawn || colours !== this.painted)
            this.drawAxis(label, width);
        this.drawn = width;
        this.painted = colours;
        this.placeRange(this.range, this.state.range, label, width);
        this.placeRange(this.base, this.state.base, label, width);
    }

    placeRange(element, range, label, width) {
        const last = this.page.profile.last;

        element.hidden = !range;
        if (!range)
            return;
        const from = Math.min(range[0] / last, 1) * width;
        const to = Math.min(range[1] / last, 1) * width;

        element.style.left = label + from + 'px';
        element.style.width = Math.max(to - from, 2) + 'px';
    }

    drawAxis(label, width) {
        const {profile, colours} = this.page;
        const context = openCanvas(this.axis, label + width + 12, AXIS);
        const step = niceStep(profile.last / Math.max(width / 90, 1));

        context.fillStyle = colours.panel;
        context.fillRect(0, 0, label + width + 12, AXIS);
        context.font = '12px sans-serif';
        context.textBaseline = 'top';
        context.fillStyle = colours.text;
        for (let us = 0; us < profile.last; us += step) {
            const x = label + us / profile.last * width;

            context.fillRect(x, AXIS - 6, 1, 6);
            context.fillText(seconds(us, step), x + 3, 2);
        }
        this.drawMoments(context, label, width);
    }

    // Where sections begin and pauses do, of the process with the most.
    drawMoments(context, label, width) {
        const {profile, colours} = this.page;
        const process = profile.processes.reduce((most, one) =>
            one.sections.length > most.sections.length ? one : most);
        const x = (us) => label + Math.min(us / profile.last, 1) * width;

        context.fillStyle = colours.mark;
        if (process.sections.length > 1)
            process.sections.slice(0, 500).forEach((us, i) => {
                context.fillRect(x(us), 0, 2, AXIS);
                context.fillText('\u00a7' + (process.before + i), x(us) + 3,
                    13);
            });
        for (const us of process.pauses.slice(0, 500)) {
            context.fillRect(x(us), AXIS - 10, 2, 10);
            context.fillRect(x(us) + 4, AXIS - 10, 2, 10);
        }
    }

    content(i) {
        const {lane, level} = this.list[i];
        const {label, width} = this.place();
        const canvas = make('canvas', {class: 'lane', role: 'gridcell',
            'aria-label': `${percent(lane.whole, this.lanes.weight)} of all`});
        const toggle = make('span', {class: 'toggle',
            'data-toggle': lane.children.length > 0},
        lane.children.length > 0 ? lane.isOpen ? '\u25be' : '\u25b8' : '');
        const name = make('span', {class: 'label', role: 'gridcell',
            title: lane.title}, toggle,
        make('span', {class: 'name', 'data-pick': i}, lane.name
            + (lane.lost > 0 ? ` (${lane.lost} lost)` : '')));
        const isPicked = this.state && lane.process === this.state.process
            && lane.thread === this.state.thread && lane.process !== -1;

        name.style.width = label - 4 + 'px';
        name.style.paddingLeft = 4 + Math.min(level, 6) * 9 + 'px';
        if (this.state)
            this.drawLane(canvas, lane, width);
        return {attributes: {'aria-level': level + 1,
            'aria-expanded': lane.children.length > 0
                ? String(Boolean(lane.isOpen)) : undefined,
            'aria-selected': String(isPicked),
            class: isPicked ? 'picked' : ''}, children: [name, canvas]};
    }

    bins(lane, count) {
        if (lane.bins && lane.wanted === this.wanted && lane.binned
                === Boolean(lane.isOpen) && lane.bins.running.length === count)
            return lane.bins;
        lane.wanted = this.wanted;
        lane.binned = Boolean(lane.isOpen);
        lane.bins = binLane(this.page.profile, lane, count, this.wanted);
        return lane.bins;
    }

    drawLane(canvas, lane, width) {
        const context = openCanvas(canvas, width, LANE - 2);
        const {profile, colours} = this.page;
        const count = Math.max(1, Math.min(Math.floor(width / 2), MOST_BINS));
        const bins = this.bins(lane, count);
        const slice = profile.last / count;
        let most = shownThreads(lane).length === 1 ? slice : 0;

        for (let i = 0; i < count; i++)
            most = Math.max(most, bins.running[i] + bins.blocked[i]);
        context.fillStyle = colours.panel;
        context.fillRect(0, 0, width, LANE);
        const scale = most > 0 ? (LANE - 3) / most : 0;
        const wide = width / count;

        for (let i = 0; i < count; i++) {
            const high = bins.running[i] * scale;
            const rest = bins.blocked[i] * scale;
            const found = bins.matched[i] * scale;

            context.fillStyle = colours.blocked;
            if (rest > 0)
                context.fillRect(i * wide, LANE - 2 - high - rest, wide / 2,
                    rest);
            context.fillStyle = colours.running;
            if (high > 0)
                context.fillRect(i * wide, LANE - 2 - Math.max(high, 1),
                    Math.max(wide - 0.5, 1), Math.max(high, 1));
            context.fillStyle = colours.found;
            if (found > 0)
                context.fillRect(i * wide, LANE - 2 - Math.max(found, 2),
                    Math.max(wide - 0.5, 1), Math.max(found, 2));
        }
        this.drawMarks(context, lane, width);
    }

    marksOf(lane) {
        if (!lane.marks) {
            lane.marks = marksOf(this.page.profile, lane);
            lane.levels = nestMarks(this.page.profile.marks, lane.marks);
        }
        return lane.marks;
    }

    // Spans as lines at the lane's top, each with its ends, those within
    // others below them; points as ticks.
    drawMarks(context, lane, width) {
        const {profile, colours} = this.page, {marks} = profile;
        const x = (us) => us / profile.last * width;
        let drawn = -1;

        context.fillStyle = colours.span;
        for (const i of this.marksOf(lane)) {
            const from = x(marks.from[i]), to = x(marks.to[i]);

            if (!hasLength(marks, i)) {
                if (from - drawn >= 1)
                    context.fillRect(from, 0, 1, STRIP + 2);
                drawn = from;
                continue;
            }
            const y = lane.levels.get(i) * LEVEL;

            context.fillRect(from, y, Math.max(to - from, 1), 2);
            context.fillRect(from, y, 1, STRIP);
            context.fillRect(to - 1, y, 1, STRIP);
        }
    }

    // The mark under the pointer, at the top of a lane; -1: none.
    markUnder(event) {
        const canvas = event.target.closest('canvas.lane');
        const row = event.target.closest('[data-row]');

        if (!canvas || !row)
            return -1;
        const box = canvas.getBoundingClientRect(), {profile} = this.page;
        const us = (event.clientX - box.left) / box.width * profile.last;

        const {lane} = this.list[Number(row.dataset.row)];
        const all = this.marksOf(lane), y = event.clientY - box.top;
        const near = NEAR / box.width * profile.last;

        if (y > (MOST_NESTED - 1) * LEVEL + STRIP + NEAR)
            return -1;
        const found = markAt(profile.marks, all.filter((i) =>
            lane.levels.get(i) === Math.floor(y / LEVEL)), us, near);

        return found >= 0 ? found : markAt(profile.marks, all, us, near);
    }

    // Shows one process or thread alone, a folded process with what is below
    // it, or all again.
    pick(i) {
        const {lane} = this.list[i], state = this.state;

        if (lane.process === -2)
            this.toggle(i);
        else if (lane.process === state.process
                && lane.thread === state.thread)
            this.page.change({process: -1, below: false, thread: -1});
        else
            this.page.change({process: lane.process, thread: lane.thread,
                below: !lane.isOpen && lane.thread < 0
                    && this.page.profile.processes.some(({parent}) =>
                        parent === lane.process + 1)});
    }

    toggle(i) {
        const {lane} = this.list[i];

        if (lane.children.length === 0)
            return;
        lane.isOpen = !lane.isOpen;
        this.showLanes();
    }

    press(event, i) {
        const {lane} = this.list[i];

        if (event.key === 'toggle' || event.key === ' '
                || event.key === 'ArrowRight' && !lane.isOpen
                || event.key === 'ArrowLeft' && lane.isOpen) {
            this.toggle(i);
            return true;
        }
        return false;
    }

    // The moment under the pointer, or null left of the lanes.
    moment(event, isInside) {
        const {label, width} = this.place();
        const x = event.clientX - this.element.getBoundingClientRect().left
            - label;

        if (isInside && x < 0)
            return null;
        return Math.round(Math.max(0, Math.min(x / width, 1))
            * this.page.profile.last);
    }

    begin(event) {
        const at = this.moment(event, true);

        if (at === null || event.button !== 0) {
            const name = event.target.closest('[data-pick]');

            if (name && event.button === 0)
                this.pick(Number(name.dataset.pick));
            return;
        }
        this.drag = {at, x: event.clientX, mark: this.markUnder(event)};
        this.element.setPointerCapture(event.pointerId);
    }

    move(event) {
        const mark = this.drag ? -1 : this.markUnder(event);

        if (mark >= 0)
            this.page.status.textContent = markText(this.page.profile.marks,
                mark);
        if (!this.drag || Math.abs(event.clientX - this.drag.x) < 3)
            return;
        const at = this.moment(event), from = Math.min(at, this.drag.at);
        const to = Math.max(at, this.drag.at);

        if (from >= to)
            return;
        this.page.change({[this.page.dragged]: [from, to]},
            this.drag.hasMoved);
        this.drag.hasMoved = true;
    }

    end(event) {
        if (this.drag && !this.drag.hasMoved && this.drag.mark >= 0)
            this.page.change({[this.page.dragged]:
                markRange(this.page.profile, this.drag.mark)});
        else if (this.drag && !this.drag.hasMoved
                && Math.abs(event.clientX - this.drag.x) < 3
                && this.state.range)
            this.page.change({range: null, base: null});
        this.drag = null;
    }
}

// 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));

    return [1, 2, 5, 10].map((one) => one * power)
        .find((step) => step >= least);
}
