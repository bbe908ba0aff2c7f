"""`python -m implementations.scheduling submit|workers|worker`."""

from implementations.scheduling.command import main

if __name__ == "__main__":
    main(prog_name="python -m implementations.scheduling")
