"""Pages and tables are made from the records of any application, whose physics this does not know."""
