"""Parts of the page Ledger."""
