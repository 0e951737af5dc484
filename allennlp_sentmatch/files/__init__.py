"""Users' files: lines, tables, vectors and folders. Mistakes in them raise `ValueError`."""
