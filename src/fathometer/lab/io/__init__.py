"""`fathometer io` measures storage: it drives the same volume strategies as the applications, and no others."""
