// SPDX-License-Identifier: MIT
// Starts the page; where that cannot be, the plain tables stay, and a sentence
// says why.  `jprof` is the page for tests and for a browser's console.

async function start() {
    const host = document.getElementById('app');
    const plain = document.getElementById('plain');
    const lack = document.getElementById('lack');

    if (!document.getElementById('jprof-core'))
        return;
    try {
        if (typeof DecompressionStream === 'undefined')
            throw new Error('old');
        const page = new Page(await readProfile(), host);

        lack.hidden = true;
        plain.open = false;
        host.hidden = false;
        document.documentElement.classList.add('live');
        page.read();
        globalThis.jprof = page;
        host.dataset.ready = 'true';
    } catch (error) {
        host.hidden = true;
        host.replaceChildren();
        lack.hidden = false;
        plain.open = true;
        lack.textContent = error.message === 'old'
            ? 'This browser is too old for the flame graph and the timeline '
                + '(it has no DecompressionStream); these are the tables of '
                + 'the heaviest functions.'
            : 'The data of this page is damaged, so that only the tables of '
                + 'the heaviest functions can be shown.';
    }
}

start();
