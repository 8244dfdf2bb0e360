"""Commands for human players: play, practice and the web page."""
