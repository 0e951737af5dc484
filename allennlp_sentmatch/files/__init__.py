"""Files that people have: lines, tables, vectors, folders. Mistakes in them are `ValueError`s."""
