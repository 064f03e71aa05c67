"""Images: sizes, colours, patches, boxes, and how alike two of them are."""
