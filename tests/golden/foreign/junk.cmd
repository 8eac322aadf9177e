--format=collapsed junk.folded
status 1
