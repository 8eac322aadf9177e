--format=collapsed negative.folded
status 1
