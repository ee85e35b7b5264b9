"""Elementary functions as vector code."""
