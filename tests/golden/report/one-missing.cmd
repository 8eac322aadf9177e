--merge --format=collapsed app missing jprof-log
status 1
