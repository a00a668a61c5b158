"""Volume formats, one module each, and what several of them share."""
