"""Studies: many runs of an application under the same conditions, and what differs between them."""
