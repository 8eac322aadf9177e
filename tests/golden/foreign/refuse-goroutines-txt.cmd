--format=text goroutines.txt
status 2
