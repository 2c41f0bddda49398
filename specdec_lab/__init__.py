"""Speculative decoding, taught and run by the same functions: predict, then measure, then explain the difference."""

__version__ = "0.1.0"
