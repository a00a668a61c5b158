"""A recipe states how a program of others is run, and where its output says what was measured."""
