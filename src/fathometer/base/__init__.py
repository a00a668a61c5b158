"""What everything stands on: errors, signals, the ledger of seconds and bytes, progress, the host."""
