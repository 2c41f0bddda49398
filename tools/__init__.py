"""What maintainers run on the course; no part of the package."""
