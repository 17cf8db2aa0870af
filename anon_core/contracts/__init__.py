"""What an algorithm, a partitioner, a model, a metric, a cost and an attack must offer."""
