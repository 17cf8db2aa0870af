"""What privacy models ask of a sensitive column's values in each group, decided without rounding.

Each file holds one kind of question as plain functions of group histograms and of the counts of the
whole table. Ties are decided in whole numbers or fractions; where a logarithm is part of the
definition, decimals of many digits decide what binary ones leave open.
"""
