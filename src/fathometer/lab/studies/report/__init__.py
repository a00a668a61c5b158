"""What a study says: tables, the sentences of its answer, plots, the page, Markdown, the terminal."""
