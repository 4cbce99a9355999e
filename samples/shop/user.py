username = 1
