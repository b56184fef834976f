"""Parts of the Attacker page."""
