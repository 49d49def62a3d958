"""Reader leaves: one per profile format."""
