"""What a study says is written here: tables, the sentences of its answer, plots, the page, Markdown, the terminal."""
