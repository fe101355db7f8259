"""Run the rules over files: ``art-adapt check``."""
