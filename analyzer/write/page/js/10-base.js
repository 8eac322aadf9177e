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

// The end of the group that opens at `at`, or -1; "->" closes nothing.
function groupEnd(name, at, open, close) {
    let depth = 0;

    for (let i = at; i < name.length; i++) {
        if (name[i] === open) {
            depth++;
        } else if (name[i] === close && name[i - 1] !== '-') {
            depth--;
            if (depth === 0)
                return i;
        }
    }
    return -1;
}

// The name without template arguments.
function withoutTemplates(name) {
    let text = '';

    for (let i = 0; i < name.length; i++) {
        const isOperator = /operator<?$/.test(text);
        const end = name[i] === '<' && text && !isOperator
            ? groupEnd(name, i, '<', '>') : -1;

        if (end > i + 1) {
            text += '<\u2026>';
            i = end;
        } else {
            text += name[i];
        }
    }
    return text;
}

// The name without the type of its result, which templates' names begin with.
function withoutType(name) {
    let depth = 0, from = 0;

    for (let i = 0; i < name.length; i++) {
        if ('({['.includes(name[i]))
            depth++;
        else if (')}]'.includes(name[i]))
            depth--;
        else if (name[i] === ' ' && depth === 0
                && !name.slice(from, i).includes('operator'))
            from = i + 1;
    }
    return from < name.length ? name.slice(from) : name;
}

// The name without its list of arguments.  What is in brackets behind a blank
// is a place in a source file, and stays.
function withoutArguments(name) {
    for (let i = 1; i < name.length; i++) {
        if (name[i] !== '(' || /[\s:({]/.test(name[i - 1]))
            continue;
        if (name.endsWith('operator', i) || name.includes('{lambda(')
            && name.lastIndexOf('{lambda(', i) === i - 7)
            continue;
        const end = groupEnd(name, i, '(', ')');

        if (end < 0)
            return name;
        const rest = name.slice(end + 1);

        if (rest === '@plt')
            return withoutType(name.slice(0, i)) + rest;

        return rest === '' || /^ (const|&|&&|volatile|noexcept)/.test(rest)
            || rest.startsWith(' [') ? withoutType(name.slice(0, i)) : name;
    }
    return name;
}

const NAME_SHOWN = 160;
const INLINED = ' (inlined)';

function shortened(name) {
    if (name.endsWith(INLINED))
        return shortened(name.slice(0, -INLINED.length)) + INLINED;
    if (name.length > 4000)
        return name.slice(0, NAME_SHOWN) + '\u2026';
    const text = withoutArguments(name.includes('<') ? withoutTemplates(name)
        : name).replace(/ \((?:[^()\s]*\/)([^()/\s]+)\)$/, ' ($1)');

    return text.length > NAME_SHOWN
        ? '\u2026' + text.slice(text.length - NAME_SHOWN) : text;
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
