import sys, os

Username = os.name  # Teh name
