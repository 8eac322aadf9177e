# Test suites of others without jprof and under it; see transparency.py.
# TRANSPARENCY_ARGS="--suite glib --unit thread" chooses.

TRANSPARENCY_ARGS ?=

check-transparency: $(B)/libjprof.so ## CPython's and GLib's own tests, without jprof and under it
	@scripts/install-deps check
	@B=$(B) $(PYTHON) tests/transparency/transparency.py $(TRANSPARENCY_ARGS)

.PHONY: check-transparency
