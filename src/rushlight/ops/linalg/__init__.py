"""Solving, decompositions and functions of matrices. LAPACK's routines run on the host, through
NumPy and SciPy; the rest are composites over them.
"""
