"""An incompressible flow is stepped in time here, from arrays and numbers only; this knows no input files."""
