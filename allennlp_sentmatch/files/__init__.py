"""Users' files: lines, tables, vectors and folders. Mistakes in them raise `ValueError`.

The message names the file, the line if there is one, and the remedy.
"""
