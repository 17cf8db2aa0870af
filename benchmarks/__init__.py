"""Speed of the workbench on real tables, measured with plain baselines in the same run."""
