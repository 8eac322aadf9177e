# Servers, their clients and tools, without jprof and under it; see servers.py.
# SERVERS_ARGS="nginx sshd" chooses; BROWSERS_ARGS=firefox-esr likewise.

SERVERS_ARGS ?=
BROWSERS_ARGS ?=

check-servers: $(B)/libjprof.so $(B)/tests/servers/work servers-deps ## servers and tools at work, without jprof and under it: results and CPU time
	@B=$(B) $(PYTHON) tests/servers/servers.py $(SERVERS_ARGS)

check-browsers: $(B)/libjprof.so $(B)/jprof $(B)/jprof-report browsers-deps ## Firefox and Chromium with a page, without jprof and under it: screenshots and coverage
	@B=$(B) $(PYTHON) tests/servers/browsers.py $(BROWSERS_ARGS)

browsers-deps:
	@scripts/install-deps servers

servers-deps:
	@scripts/install-deps servers
	@scripts/get-source $(B)/suites \
	  postgresql-$$(ls /usr/lib/postgresql | sort -n | tail -1)

$(B)/tests/servers/work: tests/servers/work.c
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -o $@ $<

.PHONY: check-servers servers-deps check-browsers browsers-deps
