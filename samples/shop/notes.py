Username = 1  # Teh notes
