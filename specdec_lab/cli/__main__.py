"""`python -m specdec_lab.cli`: for where the command `specdec-lab` is not on the path."""

from specdec_lab.cli import main

if __name__ == "__main__":
    main()
