"""The conformance adapter of this host: what the kit asks, answered by the same parts that a chat uses.

It works on a data folder of its own and throws it away. No part of a host that people use imports it.
"""
