"""Games that people played: logs, the database they are kept in, and what it says about the players."""
