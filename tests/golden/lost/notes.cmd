--format=summary app jprof-log
status 1
