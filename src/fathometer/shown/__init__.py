"""Fields, lines and time series worth seeing are described once here, and drawn for the page and the picture."""
