"""The Lloyd family: DP-Lloyd, SuLloyd, GLloyd, FastLloyd."""
