// SPDX-License-Identifier: MIT
// Source lines and instructions of a function, with what is selected of its
// samples.

const LINES_AROUND = 3, MOST_GROUPS = 40;

class CodeView {
    constructor(page) {
        this.page = page;
        this.text = make('p', {class: 'note', role: 'status'});
        this.jumps = make('p', {class: 'acts note'});
        this.rows = new Rows({
            role: 'treegrid', rowRole: 'row', label: 'Code',
            content: (i) => this.content(i),
            activate: (i) => this.toggle(i),
            key: (event, i) => this.press(event, i),
        });
        this.element = make('div', {class: 'list code'}, this.text, this.jumps,
            make('div', {class: 'heads'}, make('span', {}, 'Count (self)'),
                make('span', {}, '+Inlined'),
                make('span', {}, 'Line'),
                make('span', {}, 'Code')), this.rows.element);
        this.folded = new Set();
        this.items = [];
    }

    show(state) {
        this.page.code().then((code) => {
            if (this.page.state === state)
                this.list(state, code);
        }, () => {
            this.text.textContent
                = 'The code cannot be read: its data is damaged.';
        });
    }

    list(state, code) {
        const fn = state.fn, isNew = fn !== this.fn;

        this.fn = fn;
        this.code = code;
        if (!code.functions.has(fn)) {
            this.text.textContent = this.lack(fn);
            this.jumps.replaceChildren();
            this.items = [];
            this.rows.show(0);
            return;
        }
        this.weights = this.page.spots(state, code);
        this.sums = weighLines(this.page.profile, code, fn, this.weights);
        if (isNew)
            this.folded = new Set();
        this.build();
        this.tell();
        this.rows.show(this.items.length, !isNew);
        if (isNew)
            this.rows.select(Math.max(0, this.hottest('line') >= 0
                ? this.hottest('line') : this.hottest('code')), true);
    }

    lack(fn) {
        if (fn < 0)
            return 'Choose a function in another view first.';
        return `No code is in the page of ${shortName(this.page.profile, fn)}:`
            + ' it has that of the functions in which most samples are, and '
            + 'of those that --annotate=NAME names.'
            + (this.page.profile.kind[fn] === OF_JIT ? ' '
                + lineHint(this.page.profile, fn, this.code) : '');
    }

    tell() {
        const {profile} = this.page, {whole, unknown, groups} = this.sums;
        const count = (weight) => number(periods(profile, weight));

        // Samples have places only where there is code or a line of them.
        this.text.textContent = profile.names[this.fn] + (whole === 0 ? '.'
            : `: Count ${count(whole)} of what is selected, with what was `
                + 'inlined.')
            + (groups.length === 0 ? ' ' + lineHint(profile, this.fn, this.code)
                : unknown > 0
                ? ` Without a known line: ${count(unknown)}.` : '');
        this.jumps.replaceChildren(
            ...[['Hottest line', 'line'], ['Hottest instruction', 'code']]
                .filter(([, kind]) => this.hottest(kind) >= 0)
                .map(([text, kind]) => button(text,
                    () => this.rows.select(this.hottest(kind), true))));
    }

    build() {
        const one = this.code.functions.get(this.fn);

        this.items = [];
        this.addSource();
        one.pieces.forEach((piece, i) => this.addPiece(piece, i));
        const more = one.pieces.filter((piece) => piece.rows === null).length;

        if (more > 0)
            this.items.push({kind: 'note', text: `${more} more pieces of code`,
                level: 1});
    }

    addSource() {
        const {groups} = this.sums;
        const order = [...groups].sort((a, b) => b.isOwn - a.isOwn
            || groupWeight(b) - groupWeight(a) || a.file - b.file);

        for (const group of order.slice(0, MOST_GROUPS)) {
            const key = `g${group.name} ${group.file} ${group.isInlined}`;
            const file = this.code.files[group.file];
            let self = 0;

            for (const line of group.lines.values())
                self += line.self;
            this.items.push({kind: 'title', key, level: 1, self,
                text: (group.isOwn ? '' : group.short + ': ') + file});
            if (!this.folded.has(key))
                this.addLines(group);
        }
    }

    addLines(group) {
        const texts = this.code.texts[group.file];
        const lines = [...group.lines.values()]
            .sort((a, b) => a.line - b.line);
        let next = 0;

        for (const [i, line] of lines.entries()) {
            const from = Math.max(next, line.line - LINES_AROUND, 1);
            const end = i + 1 < lines.length ? lines[i + 1].line : Infinity;

            if (i > 0 && from > next)
                this.items.push({kind: 'gap', level: 2, text: '\u2026'});
            for (let n = from; n < line.line; n++)
                if (texts.has(n))
                    this.items.push({kind: 'line', level: 2, line: n,
                        self: 0, total: 0, text: texts.get(n)});
            this.items.push({kind: 'line', level: 2, ...line,
                text: texts.get(line.line)});
            next = line.line + 1;
            for (; next < end && next <= line.line + LINES_AROUND; next++)
                if (texts.has(next))
                    this.items.push({kind: 'line', level: 2, line: next,
                        self: 0, total: 0, text: texts.get(next)});
        }
    }

    addPiece(piece, index) {
        const key = 'p' + index;
        const counts = new Float64Array(piece.rows ? piece.rows.length : 0);
        let self = 0;

        if (piece.rows === null)
            return;
        for (const [spot, row] of piece.hits) {
            self += this.weights[spot];
            if (row >= 0)
                counts[row] += this.weights[spot];
        }
        this.items.push({kind: 'title', key, level: 1, self,
            text: `${piece.tier} ${piece.place}`.trim()});
        if (piece.lack)
            this.items.push({kind: 'note', level: 2, text: piece.lack});
        if (!this.folded.has(key))
            this.addRows(piece.rows, counts, key);
    }

    addRows(rows, counts, key) {
        let isHidden = false, level = 2, span = null;

        rows.forEach(([kind, a, b], i) => {
            if (kind === 3) {
                const names = rows[i].slice(1);

                span = null;
                isHidden = false;
                level = 2;
                if (names.length === 0)
                    return;
                const own = `${key}.${i}`;

                isHidden = this.folded.has(own);
                level = 3;
                span = {kind: 'title', key: own, level: 2, self: 0,
                    isInlined: true,
                    text: names.map(clipped).join(', in ') + INLINED};
                this.items.push(span);
                return;
            }
            if (span && kind === 0)
                span.self += counts[i];
            if (isHidden)
                return;
            if (kind === 0)
                this.items.push({kind: 'code', level, place: a, text: b,
                    self: counts[i]});
            else if (kind === 1)
                this.items.push({kind: 'source', level, text: `${this.code
                    .files[a].replace(/^.*\//, '')}:${b}  ${this.code.texts[a]
                    .get(b) || ''}`});
            else
                this.items.push({kind: 'gap', level, text:
                    `\u2026 ${a} instructions`});
        });
    }

    // The line or the instruction with the highest Count, or -1.
    hottest(kind) {
        let found = -1, most = 0;

        for (const [i, item] of this.items.entries())
            if (item.kind === kind && item.self > most) {
                most = item.self;
                found = i;
            }
        return found;
    }

    content(i) {
        const item = this.items[i], {profile} = this.page;
        const figure = (weight) => make('span', {class: 'n', role: 'gridcell'},
            weight > 0 ? number(periods(profile, weight)) : '');
        const opens = item.kind === 'title';
        const isOpen = opens && !this.folded.has(item.key);
        const name = make('span', {class: 'tree', role: 'gridcell'},
            opens ? make('span', {class: 'toggle', 'data-toggle': true},
                isOpen ? '\u25be' : '\u25b8') : '',
            make('code', {}, item.text === undefined
                ? '(source not in the page)' : item.text));

        name.style.paddingLeft = (item.level - 1) * 12 + 'px';
        return {attributes: {
            'aria-level': item.level,
            'aria-expanded': opens ? String(isOpen) : undefined,
            class: (item.isInlined ? 'inlined ' : '')
                + (item.kind === 'line' ? '' : item.kind)
                + (!opens && item.self > 0 ? ' hot' : '')},
        children: [figure(item.self), figure(item.total),
            make('span', {class: 'place', role: 'gridcell'},
                item.line ? String(item.line) : item.place || ''),
            this.heat(item), name]};
    }

    // How much of the function an item is, as a bar.
    heat(item) {
        const bar = make('i', {});

        if (item.kind !== 'title' && item.self > 0 && this.sums.whole > 0)
            bar.style.width
                = Math.max(2, 56 * item.self / this.sums.whole) + 'px';
        else
            bar.hidden = true;
        return make('span', {class: 'heat', role: 'presentation'}, bar);
    }

    toggle(i) {
        const {key} = this.items[i];

        if (key === undefined)
            return;
        if (!this.folded.delete(key))
            this.folded.add(key);
        this.build();
        this.rows.show(this.items.length, true);
    }

    press(event, i) {
        const item = this.items[i];
        const isFolded = this.folded.has(item.key);

        if (event.key === 'toggle'
                || event.key === 'ArrowRight' && item.key && isFolded
                || event.key === 'ArrowLeft' && item.key && !isFolded) {
            this.toggle(i);
        } else if (event.key === 'ArrowLeft') {
            while (i > 0 && this.items[i].level >= item.level)
                i--;
            this.rows.select(i);
        } else {
            return false;
        }
        return true;
    }
}
