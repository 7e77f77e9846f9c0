"""What reports are made of: results, figures, tables, the items behind them, and the page that shows them. Nothing here
computes, or imports a library that does: pages, commands and workers share it."""
