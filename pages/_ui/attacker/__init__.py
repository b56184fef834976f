"""Parts of the page Attacker."""
