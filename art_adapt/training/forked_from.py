"""What ``multiprocessing``'s fork server imports, when all of this package is there."""

from art_adapt.training.preloaded import preload

preload()
