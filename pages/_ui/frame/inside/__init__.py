"""Rely on Streamlit's insides, as no other folder may: private names, addresses, test-ids, the page's history."""
