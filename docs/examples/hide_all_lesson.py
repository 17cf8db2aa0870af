"""Hide everything: a lesson of two steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from anon_core.teaching.learn import Example, Lesson, Source, Step, Trace
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import number_question, release_table, table


class HideAllLesson(Lesson):
    name = "hide-all"  # /Learn?lesson=hide-all
    number = 99  # place in the course
    title = "Hide everything"
    summary = "What is left if every value is at its top."
    source = Source(author="Samarati", year=2001, title="Protecting respondents' identities")
    examples = (Example(name="toth", title="Toth's eight people", sample="toth-private"),)
    runs = {
        "search": {
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 8}],
        }
    }

    def steps(self, trace: Trace) -> Sequence[Step]:
        run = trace["search"]
        looked = run.events_of("node")  # events, in order; each has `facts`
        return [
            Step(
                title="The table",
                words=f"{trace.rows} rows; {len(looked)} nodes will be looked at.",
                pictures=(table(trace, "The table as it is held"),),
            ),
            Step(
                title="The release",
                words="What is published.",
                pictures=(release_table(trace, "search", "What is published"),),
                question=number_question(
                    "How many rows look alike?",
                    max(Counter(run.together).values()),
                    "So many share every quasi-identifier.",
                    among=trace.rows,
                    mistakes=(1, len(looked)),
                ),
                together=run.together,
                seen=published(run),
            ),
        ]
