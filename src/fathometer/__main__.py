"""`python -m fathometer` is the command `fathometer`."""

import sys

from fathometer.cli.main import main

sys.exit(main())
