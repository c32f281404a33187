"""The version, and the name of the library that goes with it: setup.py compares both with rise.h.
"""
VERSION = "0.2.0"
LIBRARY = "librise.so.0.2"
