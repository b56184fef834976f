"""Parts of the page Federated."""
