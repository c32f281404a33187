"""`python -m risec`: the command `risec`."""
from ._reports import main

main()
