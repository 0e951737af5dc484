"""The steps compiled from C++, and how they share threads."""
