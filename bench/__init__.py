"""Measurements: what we do beside its floor, in one run on one disk, as medians.

A ratio says how many times longer ours takes than the least that any program would have to do. Nothing here is a test.
"""
