"""What everybody said of the items behind a figure, and what of it the figure counted, for a page that shows them."""
