"""The commands of the command line, one file each; what they are given is read in `__main__`."""

import os

# Before a command loads numpy: each of its threads for linear algebra, of which little is asked
# here, takes a core for a while after every product, in vain.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
