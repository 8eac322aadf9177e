// SPDX-License-Identifier: MIT
// The flame graph: the tree as boxes on a canvas, roots at the top (icicle) or
// at the bottom.

const BOX = 19, LEAST_WIDTH = 0.6, TEXT_WIDTH = 24;

class Flame {
    constructor(page) {
        this.page = page;
        this.canvas = make('canvas', {class: 'flame'});
        this.space = make('div', {class: 'space'}, this.canvas);
        this.tip = make('div', {class: 'tip', hidden: true});
        this.element = make('div', {
            class: 'flames', tabindex: 0, role: 'application',
            'aria-label': 'Flame graph. Arrow keys go to callers, callees and '
                + 'siblings, Enter zooms, Escape goes back.',
            keydown: (event) => this.press(event),
            scroll: () => this.draw(),
            click: (event) => this.click(event),
            dblclick: (event) => this.open(event),
            mousemove: (event) => this.hover(event),
            mouseleave: () => { this.tip.hidden = true; },
        }, this.space, this.tip);
        this.at = 0;
        this.boxes = [];
        new ResizeObserver(() => this.tree
            && this.size() !== this.laid && this.layout())
            .observe(this.element);
    }

    size() {
        return this.element.clientWidth + ' ' + this.element.clientHeight;
    }

    show(state) {
        const tree = this.page.model.tree(state);

        if (tree !== this.tree) {
            this.tree = tree;
            this.at = 0;
        }
        this.sums = this.page.model.sums(state);
        this.comparison = this.page.model.base(state)
            ? new Comparison(this.page, state, tree.count) : null;
        this.weights = this.page.model.shown(state);
        this.marks = state.search ? this.page.model.matched(state).marks : null;
        this.state = state;
        this.zoom = this.find(state.zoom);
        if (this.weights[this.at] === 0)
            this.at = 0;
        this.layout();
    }

    // The node of that path of functions, or as far as it goes.
    find(path) {
        let node = 0;

        for (const fn of path) {
            let child = this.tree.child[node];

            while (child !== 0 && this.tree.fn[child] !== fn)
                child = this.tree.sibling[child];
            if (child === 0 || this.weights[child] === 0)
                break;
            node = child;
        }
        return node;
    }

    path(node) {
        const path = [];

        for (; node !== 0; node = this.tree.parent[node])
            path.unshift(this.tree.fn[node]);
        return path;
    }

    add(node, x, width, depth) {
        this.boxes.push({node, x, width, depth});
        this.deepest = Math.max(this.deepest, depth);
    }

    // The boxes of a width that can be seen.
    layout() {
        const width = this.element.clientWidth;
        const whole = this.weights[this.zoom];

        this.laid = this.size();
        const above = [];

        this.boxes = [];
        this.deepest = 0;
        for (let i = this.zoom; i !== 0; i = this.tree.parent[i])
            above.unshift(i);
        this.add(0, 0, width, 0);
        above.forEach((node, i) => this.add(node, 0, width, i + 1));
        if (whole > 0)
            for (let i = above.length; i < this.boxes.length; i++)
                this.spread(this.boxes[i], width / whole);
        const height = Math.max((this.deepest + 1) * BOX,
            this.element.clientHeight);

        this.height = height;
        this.space.style.height = height + 'px';
        if (this.state.up && this.shown !== this.state.up)
            this.element.scrollTop = height;
        this.shown = this.state.up;
        this.draw();
    }

    spread(box, scale) {
        let x = box.x;

        for (const node of childrenOf(this.tree, this.weights, box.node,
            LEAST_WIDTH / scale)) {
            const width = this.weights[node] * scale;

            this.add(node, x, width, box.depth + 1);
            x += width;
        }
    }

    top(box) {
        return this.state.up ? this.height - (box.depth + 1) * BOX
            : box.depth * BOX;
    }

    draw() {
        if (!this.tree)
            return;
        const width = this.element.clientWidth;
        const height = Math.min(this.element.clientHeight || 1, 2000);
        const scroll = this.element.scrollTop;
        const context = openCanvas(this.canvas, width, height);
        const colours = this.page.colours;

        this.canvas.style.top = scroll + 'px';
        context.fillStyle = colours.ground;
        context.fillRect(0, 0, width, height);
        context.textBaseline = 'middle';
        for (const box of this.boxes) {
            const y = this.top(box) - scroll;

            if (y + BOX > 0 && y < height)
                this.drawBox(context, box, y, colours);
        }
    }

    drawBox(context, box, y, colours) {
        const fn = this.tree.fn[box.node];
        const kind = box.node === 0 ? -1 : this.page.profile.kind[fn];
        const isDim = this.marks && box.node !== 0 && !this.marks[box.node];
        const paint = this.comparison && box.node !== 0 ? this.difference(box.node)
            : null;
        const width = Math.max(box.width - (box.width > 3 ? 1 : 0.3), 0.5);

        context.fillStyle = paint ? colours[paint.colour]
            : kind < 0 ? colours.root
                : isDim ? colours.dim : colours.kinds[kind];
        context.fillRect(box.x, y, width, BOX - 1);
        if (box.width >= TEXT_WIDTH) {
            context.fillStyle = kind < 0 ? colours.rootText
                : isDim && !paint ? colours.dimText : colours.boxText;
            context.font = FONTS[Math.max(kind, 0)];
            this.drawText(context, box, {y, head: paint ? paint.text + ' '
                : '', name: this.name(box.node)});
        }
        if (box.node === this.at && document.activeElement === this.element
                || (fn === this.state.fn && box.node !== 0
                    && box.width > 3)) {
            context.strokeStyle = colours.mark;
            context.lineWidth = 2;
            context.strokeRect(box.x + 1, y + 1, Math.max(width - 2, 1),
                BOX - 3);
            // Boxes are as dark as the mark; a line of the text's colour is
            // not.
            context.strokeStyle = colours.boxText;
            context.lineWidth = 1;
            context.strokeRect(box.x + 2.5, y + 2.5, Math.max(width - 5, 0.5),
                BOX - 6);
        }
    }

    // How a node differs in what is compared with.
    difference(node) {
        const paint = this.comparison.ofNode(node);

        return paint.word ? {...paint, text: `${paint.text} ${paint.word}`}
            : paint;
    }

    name(node) {
        return node === 0 ? 'all' : shortName(this.page.profile,
            this.tree.fn[node]);
    }

    // What a comparison says goes before the name, which is cut first.
    drawText(context, box, {y, head, name}) {
        const room = box.width - 8;
        const each = 7.2;
        const most = Math.floor(room / each);

        if (most < 2)
            return;
        context.fillText(head.length + 2 > most
            ? fitting(head === '' ? name : head.trim(), most)
            : head + fitting(name, most - head.length), box.x + 4, y + BOX / 2,
        room);
    }

    boxAt(event) {
        const place = this.element.getBoundingClientRect();
        const x = event.clientX - place.left;
        const y = event.clientY - place.top + this.element.scrollTop;

        return this.boxes.find((box) => x >= box.x && x < box.x + box.width
            && y >= this.top(box) && y < this.top(box) + BOX);
    }

    hover(event) {
        const box = this.boxAt(event);

        this.tip.hidden = !box;
        if (!box)
            return;
        const place = this.element.getBoundingClientRect();

        this.tip.textContent = (this.comparison && box.node !== 0
            ? this.difference(box.node).text + ': ' : '')
            + this.page.describe(this.tree.fn[box.node],
                this.sums.total[box.node], this.sums.self[box.node]);
        this.tip.style.left = Math.max(0, Math.min(
            event.clientX - place.left + 12, place.width - 320)) + 'px';
        this.tip.style.top = event.clientY - place.top + 18
            + this.element.scrollTop + 'px';
    }

    click(event) {
        const box = this.boxAt(event);

        if (box)
            this.choose(box.node);
    }

    open(event) {
        const box = this.boxAt(event);

        if (box)
            this.page.change({zoom: this.path(box.node)});
    }

    choose(node) {
        this.at = node;
        this.page.tell(this.tree.fn[node], this.sums.total[node],
            this.sums.self[node]);
        if (node !== 0)
            this.page.change({fn: this.tree.fn[node]}, true);
        this.draw();
    }

    press(event) {
        const keys = this.state.up
            ? {ArrowUp: 'child', ArrowDown: 'parent'}
            : {ArrowDown: 'child', ArrowUp: 'parent'};
        const step = {...keys, ArrowLeft: 'before', ArrowRight: 'after'}[
            event.key];

        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === 'Enter')
            this.page.change({zoom: this.path(this.at)});
        else if (event.key === 'Home')
            this.choose(this.zoom);
        else if (step)
            this.step(step);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    step(way) {
        const {tree, weights, at} = this;

        if (way === 'parent') {
            this.reach(tree.parent[at]);
        } else if (way === 'child') {
            const children = childrenOf(tree, weights, at, 0);

            if (children.length > 0)
                this.reach(children[0]);
        } else if (at !== 0) {
            const all = childrenOf(tree, weights, tree.parent[at], 0);
            const next = all.indexOf(at) + (way === 'after' ? 1 : -1);

            if (next >= 0 && next < all.length)
                this.reach(all[next]);
        }
    }

    // Chooses a node and brings it in sight.
    reach(node) {
        this.choose(node);
        const box = this.boxes.find((one) => one.node === node);

        if (!box)
            return;
        const top = this.top(box), element = this.element;

        if (top < element.scrollTop)
            element.scrollTop = top;
        else if (top + BOX > element.scrollTop + element.clientHeight)
            element.scrollTop = top + BOX - element.clientHeight;
        this.draw();
    }
}

// A canvas of that size for the screen's own points, ready to be drawn on.
function openCanvas(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;

    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    const context = canvas.getContext('2d', {alpha: false});

    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

// By kind: never by colour alone.
const FACE = '12px ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
const FONTS = [FACE, 'italic ' + FACE, 'bold ' + FACE, 'italic bold ' + FACE,
    FACE];
