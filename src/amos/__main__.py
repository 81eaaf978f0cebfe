"""Run the command line as `python -m amos`."""

from amos.cli import main

if __name__ == "__main__":
    main()
