/* SPDX-License-Identifier: MIT
 *
 * Embeds the style sheet and the script of the HTML report.  The assembler
 * reads them when this file is compiled (in the top folder, as make does);
 * analyzer.mk tells make.
 * Runs in: analyzer. */
#include "embed.h"
#include "html.h"

JR_EMBED(jr_report_css, "analyzer/write/html/report.css");
JR_EMBED(jr_report_js, "analyzer/write/html/report.js");
