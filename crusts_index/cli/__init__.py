"""The command line: one module a command; options and exit codes, nothing else."""
