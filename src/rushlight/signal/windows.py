"""Windows by which signals are multiplied before they are transformed. Filled from the operator
table when the package is imported.
"""
