"""What models about identity and persons share: sets of columns, risks, levels of one's own."""
