// SPDX-License-Identifier: MIT
// A list of many rows of which only those in sight are elements.

const ROW_HEIGHT = 22, MOST_ROWS = 70;

class Rows {
    // content(i) gives the attributes and the children of row i; key(event, i)
    // returns whether it took the key.
    constructor({role, rowRole, label, content, activate, key, choose}) {
        this.content = content;
        this.activate = activate;
        this.choose = choose || (() => {});
        this.key = key || (() => false);
        this.rowRole = rowRole;
        this.count = 0;
        this.at = -1;
        this.alive = [0, 0];
        this.space = make('div', {class: 'space', role: 'presentation'});
        this.id = 'rows' + Rows.made++;
        this.element = make('div', {
            class: 'rows', role, tabindex: 0, 'aria-label': label,
            scroll: () => this.draw(), keydown: (event) => this.press(event),
            focus: () => this.at < 0 && this.count > 0 && this.select(0, true),
            click: (event) => this.click(event),
            dblclick: (event) => this.open(event),
        }, this.space);
        new ResizeObserver(() => this.element.clientHeight !== this.high
            && this.draw()).observe(this.element);
    }

    show(count, keepPlace) {
        this.count = count;
        if (!keepPlace) {
            this.at = -1;
            this.element.scrollTop = 0;
        }
        this.at = Math.min(this.at, count - 1);
        this.element.setAttribute('aria-rowcount', count);
        this.space.style.height = count * ROW_HEIGHT + 'px';
        this.draw();
    }

    draw() {
        const top = this.element.scrollTop;
        const from = Math.max(0, Math.floor(top / ROW_HEIGHT) - 2);
        const end = Math.min(this.count, from + MOST_ROWS,
            Math.ceil((top + this.element.clientHeight) / ROW_HEIGHT) + 2);
        const rows = [];

        this.high = this.element.clientHeight;
        for (let i = from; i < end; i++)
            rows.push(this.row(i));
        this.space.replaceChildren(...rows);
        if (this.at >= from && this.at < end)
            this.element.setAttribute('aria-activedescendant',
                this.id + '-' + this.at);
        else
            this.element.removeAttribute('aria-activedescendant');
    }

    row(i) {
        const {attributes, children} = this.content(i);
        const row = make('div', {
            role: this.rowRole, id: this.id + '-' + i, 'data-row': i,
            'aria-rowindex': this.rowRole === 'row' ? i + 1 : undefined,
            ...attributes,
            class: 'row' + (i === this.at ? ' at' : '')
                + (attributes && attributes.class ? ' ' + attributes.class
                    : '')}, ...children);

        row.style.top = i * ROW_HEIGHT + 'px';
        return row;
    }

    rowOf(event) {
        const row = event.target.closest('[data-row]');

        return row ? Number(row.dataset.row) : -1;
    }

    click(event) {
        const i = this.rowOf(event);

        if (i < 0)
            return;
        this.select(i);
        if (event.target.closest('[data-toggle]'))
            this.key({key: 'toggle'}, i);
    }

    open(event) {
        const i = this.rowOf(event);

        if (i >= 0 && !event.target.closest('[data-toggle]'))
            this.activate(i);
    }

    select(i, isQuiet) {
        this.at = Math.max(0, Math.min(this.count - 1, i));
        const top = this.at * ROW_HEIGHT, element = this.element;

        if (top < element.scrollTop)
            element.scrollTop = top;
        else if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight)
            element.scrollTop = top + ROW_HEIGHT - element.clientHeight;
        this.draw();
        if (!isQuiet)
            this.choose(this.at);
    }

    press(event) {
        const page = Math.max(1,
            Math.floor(this.element.clientHeight / ROW_HEIGHT) - 1);
        const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page,
            PageUp: -page, Home: -this.count, End: this.count};

        if (event.ctrlKey || event.metaKey || event.altKey || this.count === 0
                || event.target !== this.element)
            return;
        if (Object.hasOwn(moves, event.key))
            this.select(this.at + moves[event.key]);
        else if (event.key === 'Enter' && this.at >= 0)
            this.activate(this.at);
        else if (this.at < 0 || !this.key(event, this.at))
            return;
        event.preventDefault();
        event.stopPropagation();
    }
}

Rows.made = 0;
