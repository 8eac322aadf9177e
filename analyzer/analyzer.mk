# The HTML report's assets are embedded by the assembler (write/assets.c).
$(B)/analyzer/write/html/assets.o: analyzer/write/html/report.css analyzer/write/html/report.js
