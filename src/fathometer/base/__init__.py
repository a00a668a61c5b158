"""All else stands on these foundations: errors, options, signals, the ledger of seconds and bytes, progress, the
host."""
