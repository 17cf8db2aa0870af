"""Speed of the workbench on real tables, measured beside plain baselines in the same run."""
