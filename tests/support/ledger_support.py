"""What a rank tells the others of its account, made up."""

from fathometer.base.ledger import CATEGORIES


def rank(number, seconds, bytes=0):
    """The account of a rank with one phase and one file."""
    with_other = {"phase": "read", "category": "io", "seconds": seconds, "calls": 1, "bytes": bytes}
    return {
        "rank": number,
        "host": "here",
        "wall_seconds": 2 * seconds,
        "categories": dict.fromkeys(CATEGORIES, 0.0) | {"io": seconds},
        "entries": [with_other | {"points": 3.0, "flops": 6.0}] if bytes else [],
        "overlapped": [],
        "files": [
            {"kind": "model", "direction": "read", "seconds": seconds, "flush_seconds": 0.0}
            | {"calls": 1, "bytes": bytes, "overlap_bytes": bytes // 4}
        ],
        "waited_seconds": {},
        "usage": {},
        "timeline": None,
    }
