--format=collapsed app jprof-log
status 1
