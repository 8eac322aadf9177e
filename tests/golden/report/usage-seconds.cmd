--from=1e3 app jprof-log
status 64
