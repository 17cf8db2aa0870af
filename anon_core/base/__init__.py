"""What everything stands on: errors, declared parameters, the registry, the run's context."""
