"""Results become something people read: console, HTML, JSON, CSV."""
