"""The surroundings of every page: shell, session, catalog, markup."""
