"""Parts of the Federated page."""
