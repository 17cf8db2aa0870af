"""What a release makes people believe of someone's sensitive value, against what they did before.

Each file holds one way to come to a belief as plain functions: by the values of a class, by what an
attacker knows next to them, by what is learned from all groups at once.
"""
