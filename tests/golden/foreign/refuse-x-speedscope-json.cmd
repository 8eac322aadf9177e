--format=text x.speedscope.json
status 2
