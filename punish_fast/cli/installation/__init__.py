"""Commands that check and prepare the installation."""
