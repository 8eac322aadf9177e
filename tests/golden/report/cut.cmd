--format=collapsed app cut
status 1
