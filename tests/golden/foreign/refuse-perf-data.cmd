--format=text perf.data
status 2
