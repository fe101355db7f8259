"""What is looked at, one module a subject; ``findings.CHECKS`` lists the checks."""
