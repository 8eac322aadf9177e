// SPDX-License-Identifier: MIT
// Elements, numbers and names, for every other file of the page's script.
'use strict';

// An element with attributes and children; a child that is no node is text.
function make(tag, attributes, ...children) {
    const element = document.createElement(tag);

    for (const [name, value] of Object.entries(attributes || {})) {
        if (typeof value === 'function')
            element.addEventListener(name, value);
        else if (value !== undefined && value !== false)
            element.setAttribute(name, value === true ? '' : String(value));
    }
    element.append(...children.filter((child) => child !== null));
    return element;
}

function button(text, what, attributes) {
    return make('button', {type: 'button', click: what, ...attributes}, text);
}

const grouped = new Intl.NumberFormat('en');

function number(value) {
    return grouped.format(value);
}

function percent(part, whole) {
    return (whole > 0 ? 100 * part / whole : 0).toFixed(1) + '%';
}

// Microseconds as seconds, with as many digits as a step of that size needs.
function seconds(us, step) {
    const digits = step === undefined ? 3
        : Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / 1e6) - 1e-9)));

    return (us / 1e6).toFixed(digits) + ' s';
}

const KINDS = ['program', 'library', 'JIT', 'kernel', 'unnamed'];

// Marks in names (page_names.c): what the short form leaves out stands between
// the first or the second and the third; of the second, an ellipsis is there.
const MARK = /[\x01-\x03]/;
const MARKS = /[\x01-\x03]/g;
const LEFT_OUT = /[\x01\x02][^\x03]*\x03/g;

const NAME_SHOWN = 160;
const INLINED = ' (inlined)';

// A short name's end, if it is long all the same.
function clipped(name) {
    if (name.endsWith(INLINED))
        return clipped(name.slice(0, -INLINED.length)) + INLINED;
    return name.length > NAME_SHOWN
        ? '\u2026' + name.slice(name.length - NAME_SHOWN) : name;
}

// The short form of a name with marks.
function shortened(marked) {
    return clipped(marked.replace(LEFT_OUT,
        (part) => part[0] === '\x02' ? '\u2026' : ''));
}

// As much of a short name as that many characters hold: without its place in
// a source file, then cut at the left, where what tells least of a C++ name is.
// A function without a name is told by its place alone.
function fitting(name, most) {
    if (name.length <= most)
        return name;
    if (name.endsWith(INLINED))
        return fitting(name.slice(0, -INLINED.length), most);
    const place = name.search(/ \([^()\s]*:\d+(:\d+)?\)$/);

    if (place > 0 && !name.startsWith('(anonymous)'))
        return place <= most ? name.slice(0, place)
            : name.slice(0, most - 1) + '\u2026';
    return '\u2026' + name.slice(name.length - most + 1);
}

// Where in a rising array the first value of at least `value` is.
function lowerBound(values, value, from, to) {
    while (from < to) {
        const middle = (from + to) >>> 1;

        if (values[middle] < value)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}
