/* SPDX-License-Identifier: MIT
 *
 * Embeds the page's style sheet and its script, which make has joined, with
 * their hashes (analyzer.mk).  The assembler finds them in the build folder,
 * which is on its path of includes.
 * Runs in: analyzer. */
#include "page.h"
#include "write/html/embed.h"

JR_EMBED(jr_page_css, "page-assets/page.css");
JR_EMBED(jr_page_js, "page-assets/page.js");
JR_EMBED(jr_page_css_hash, "page-assets/page.css.hash");
JR_EMBED(jr_page_js_hash, "page-assets/page.js.hash");
