"""The commands of the command line, one file each; what they are given is read in `__main__`."""
