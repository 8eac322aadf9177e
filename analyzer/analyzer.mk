# The HTML report's assets are embedded by the assembler (write/assets.c).
$(B)/analyzer/write/assets.o: analyzer/write/report.css analyzer/write/report.js
