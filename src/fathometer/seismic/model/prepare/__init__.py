"""`fathometer prepare` makes a volume ready for migration, a module a step."""
