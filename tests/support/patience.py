"""How long tests wait for what may hang."""

# s. No test says how long a command may take: a machine under load takes many times as long as a quiet one. What takes
# longer than this hangs.
PATIENCE = 600.0
