"""What the plots of studies have in common."""

# Okabe & Ito 2008 and two more: distinct with any colour vision.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a6d00", "#7b61a8")
LONGEST_NAME = 44  # letters of a name beside a plot
