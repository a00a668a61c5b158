"""The page of a run, report.html, and the tables of several: made from records, whatever application left them."""
