--output-dir . app jprof-log ./jprof-log
status 64
