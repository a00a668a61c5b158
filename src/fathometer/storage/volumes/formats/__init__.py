"""Each volume format has a module here, and what several of them share."""
