"""Results as people read them: lines of text, with nothing in them that drives a terminal."""
