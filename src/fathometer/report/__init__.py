"""Pages (report.html) and tables made from records of any application."""
