"""The surroundings of every page: shell, session, keys, catalog, markup."""
