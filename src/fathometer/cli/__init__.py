"""The command line parses a command, starts and binds ranks, and runs what it asks for; applications are known by
name."""
