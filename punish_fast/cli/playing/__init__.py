"""Commands for people: play, practice and the web page."""
