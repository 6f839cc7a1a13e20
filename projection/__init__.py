"""From the memory document to the exact text an agent reads, and to the seam that carries it."""
