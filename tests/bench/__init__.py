"""Benchmarks, and the corpus they run on."""
