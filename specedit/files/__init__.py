"""Files: bytes as read, written whole, journalled; and what git says of them."""
