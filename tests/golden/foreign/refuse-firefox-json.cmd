--format=text firefox.json
status 2
