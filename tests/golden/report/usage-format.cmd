--format=pdf app jprof-log
status 64
