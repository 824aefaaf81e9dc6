"""One file for each trainer, viewer or file format; each is imported where it is used."""
