--format=text x.jfr
status 2
