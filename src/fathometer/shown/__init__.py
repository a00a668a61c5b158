"""What is worth seeing of a run, described once: drawn as a panel of the page and as a picture."""
