--format=text callgrind.costs
status 2
