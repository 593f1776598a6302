"""The read path: query, candidates, scores, neighbours, hits."""
