"""Which plain loops every compiled kernel is compared with.

A kernel is named by its file and function. It has a twin in `tests.naive` or `tests.naive_kernels`,
and a test marked `kernels` compares both on random input; or a kernel that has one calls it.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Kernel → its twin.
TWINS: Mapping[str, str] = {
    "balls.apart": "naive_kernels.disjoint",
    "balls.best_ball": "naive_kernels.best_ball",
    "bounds.raise_below": "naive.raised_below",
    "bounds.removed_by_leaf": "naive.removed_by_leaf",
    "bounds.rows_kept": "naive_kernels.rows_kept",
    "bounds.spared": "naive_kernels.spared",
    "cluster.cheapest_runs": "naive_kernels.cheapest_cut",
    "cluster.farthest": "naive_kernels.farthest",
    "cluster.grow_cluster": "naive_kernels.grown_cluster",
    "cluster.halve": "naive_kernels.halves",
    "cluster.pair_price": "naive_kernels.row_price",
    "count.alone": "naive_kernels.mean_overlap",
    "count.together": "naive_kernels.mean_overlap",
    "cover.covered": "naive.covered_people",
    "deal.anatomize": "naive_kernels.drawn_groups",
    "deal.bisect": "naive_kernels.Bisection",
    "deal.eligible": "naive_kernels.eligible",
    "deal.next_random": "naive_kernels.next_random",
    "forest.fill_pairs": "naive_kernels.pair_table",
    "forest.grow_forest": "naive_kernels.grown_forest",
    "forest.part_forest": "naive_kernels.parted_forest",
    "forest.tuple_distance": "naive_kernels.row_price",
    "frontier.advance": "naive_kernels.layer",
    "frontier.reach": "naive_kernels.takeable",
    "frontier.retreat": "naive_kernels.layer_back",
    "gain.cover_price": "naive_kernels.cell_price",
    "gain.split_by_gain": "naive.gain_mondrian",
    "mdav.farthest_from_mean": "naive.mdav",
    "mdav.take_nearest": "naive.mdav",
    "nearest.growth": "naive_kernels.growth",
    "nearest.nearest_boxes": "naive_kernels.nearest_box",
    "nearest.nearest_taker": "naive_kernels.nearest_taker",
    "nearest.nearest_tuple": "naive_kernels.nearest_tuple",
    # Four steps to one count, compared together.
    "rare.first_with": "naive.rows_around",
    "rare.meeting_places": "naive.rows_around",
    "rare.rows_around": "naive.rows_around",
    "rare.sums_by_chunk": "naive.rows_around",
    "roll_up.roll_up": "naive.rolled",
    "roll_up.roll_word": "naive.rolled",
    "rtree.insert": "naive_kernels.grown_tree",
    "rtree.refine": "naive_kernels.grown_tree",
    "rtree.split_leaf": "naive_kernels.grown_tree",
    "settle.settle": "naive.rolled",
    "sliced.posteriors": "naive_kernels.posterior_of",
    "sliced.sign_of_sum": "naive_kernels.sign_of_sum",
    "specialize.specialize": "naive.local_parts",
    # What packs tuples for the split and numbers its parts is compared together with it.
    "split.number_parts": "naive.mondrian",
    "split.pack": "naive.mondrian",
    "split.split": "naive.mondrian",
    "split.tag": "naive.mondrian",
    "subsets.cheapest_groups": "naive_kernels.cheapest_groups",
    "tuple_partition.tuple_partition": "naive_kernels.tuple_partition",
    "walk.raise_field": "naive.rolled",
    "walk.walk": "naive.tallied",
    "widen_boxes.widen_boxes": "naive_kernels.box_of",
}
