"""`fathometer io`: the storage benchmark, which drives the same volume strategies as the application, and no others."""
