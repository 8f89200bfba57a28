"""Models: each turns a robot into mechanics behind the contract of `pliant.models.contract`."""
