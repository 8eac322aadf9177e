# The HTML report's assets are embedded by the assembler (write/assets.c).
$(B)/analyzer/write/html/assets.o: analyzer/write/html/report.css analyzer/write/html/report.js

# Those of the page: the files of its script joined, in the order of their
# names, without comments and indentation (no text of theirs goes on in another
# line), and the hashes of style and script as a Content-Security-Policy has
# them.
PAGE_JS := $(sort $(wildcard analyzer/write/page/js/*.js))
PAGE_ASSETS := $(addprefix $(B)/page-assets/,page.css page.js \
  page.css.hash page.js.hash)
$(B)/page-assets/page.css: analyzer/write/page/page.css
	@mkdir -p $(@D)
	cp $< $@
$(B)/page-assets/page.js: $(PAGE_JS)
	@mkdir -p $(@D)
	sed -e '/^ *\/\//d' -e 's/^ *//' $(PAGE_JS) >$@
$(B)/page-assets/%.hash: $(B)/page-assets/% scripts/csp-hash
	scripts/csp-hash $< >$@
$(B)/analyzer/write/page/assets.o: $(PAGE_ASSETS)
# Link-time optimization would assemble it without that folder.
$(B)/analyzer/write/page/assets.o: WARN += -Wa,-I$(B) -fno-lto
