"""The program fixnvpe, as pip installs it: `fixnvpe`, or `python -m fixnvpe`, which works on this very Python."""
