"""Parts of the pages that are drawn by JavaScript of our own: plain files, nothing is built."""
