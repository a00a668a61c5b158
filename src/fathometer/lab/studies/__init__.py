"""A study makes many runs under the same conditions, and finds what differs between them."""
