"""Run the command line with ``python -m trainwright``."""

import sys

from trainwright.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
