"""The operators of neural networks as functions. Filled from the operator table when the package is
imported.
"""
