"""`python -m fathometer` is the command `fathometer`."""

import sys

from fathometer.cli import main

sys.exit(main())
