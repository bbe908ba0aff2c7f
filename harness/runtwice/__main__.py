"""`python -m runtwice`, where the command itself is not on the path."""

from runtwice.cli import main

main()
