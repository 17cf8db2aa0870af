"""What the pages share: the session's state, the frame around a page, forms and colours."""
