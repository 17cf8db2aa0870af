"""The foundation: errors, declared parameters, the registry, the run's context."""
