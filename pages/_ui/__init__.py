"""Streamlit code shared by the pages."""
