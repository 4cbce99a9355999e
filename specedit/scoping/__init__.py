"""What a name means in one file: tables of rules, scopes, types, and the uses of a name."""
