"""What surrounds every page: shell, session, keys, catalog, markup."""
