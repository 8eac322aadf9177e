--format=text x.cpuprofile
status 2
