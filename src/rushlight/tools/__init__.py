"""What is made from the operator table: type stubs and documentation."""
