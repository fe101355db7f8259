"""The checks of a rehearsal, one module per subject; ``findings.CHECKS`` lists them."""
