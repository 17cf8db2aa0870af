"""The evidence as sections to be read: headings, sentences, tables and bars, in one order.

HTML and PDF are drawn from these, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anon_core.base.terms import PEOPLE_AT_RISK, SMALLEST_CLASS, SUPPRESSED_ROWS, WORST_CHANCE
from anon_core.explain.text.phrases import chance
from anon_core.release.outcome import per_cent

NOT_STATED = "Not stated."
_MISSING = "(missing)"
_MOST_ROLES = 200
_SUBGROUPS = 5
#: Columns of a published table that fit on paper.
_WIDE = 12


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a section.

    Attributes
    ----------
    kind : {'text', 'list', 'facts', 'table', 'bars'}
    items : tuple of str
        Sentences of a text or list.
    heads : tuple of str
        Columns of a table.
    rows : tuple of tuples of str
        Of facts pairs of name and value; of a table its rows.
    bars : tuple of mappings
        Of bars on an axis from 0 to 1: ``name``, ``value``, ``said``, ``marks``, further places
        on the axis by name, and ``sure``, from where to ``value`` the bar is open.
    missing : bool
        Whether this represents what no one has stated.
    """

    kind: str
    title: str = ""
    items: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    bars: tuple[Mapping[str, Any], ...] = ()
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section: its heading, the clause it answers, and its parts."""

    key: str
    title: str
    clause: str
    blocks: tuple[Block, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, for a template."""
        return asdict(self)


def sections(report: Mapping[str, Any]) -> Sequence[Section]:
    """Return the sections of a report from its evidence; see `evidence`."""
    made = [
        _section("decision", "Decision", "ISO/IEC 27559:2022, 9", _decision(report)),
        _section("context", "Purpose, recipient and release model", "6.1", _context(report)),
        _section("threats", "Threats and harm", "6.2, 6.3", _threats(report)),
        _section("data", "Data", "7.2", _data(report)),
        _section("roles", "Role of each column", "7.2", _roles(report)),
        _section("technique", "What was done", "8.3", _technique(report)),
        _section("promises", "Privacy models, recomputed", "8.3", _models(report)),
        _section("thresholds", "Thresholds", "7.3", _thresholds(report)),
        _section("risk", "Risk before and after", "7.3", _risk(report)),
        _section(
            "questions", "Singling out, linkability, inference", "8.2.3; WP216", _asked(report)
        ),
        _section("utility", "What was lost", "8.3", _utility(report)),
        _section("statistics", "Statistics before and after", "8.3", _statistics(report)),
        _section("suppression", SUPPRESSED_ROWS, "8.3", _suppression(report)),
        _section("alternatives", "Alternatives rejected", "8.3", _alternatives(report)),
        _section("limits", "Limits", "9", [Block(kind="list", items=tuple(report["limits"]))]),
        _section("software", "Software and recipe", "9", _software(report)),
    ]
    return [one for one in made if one.blocks]


def _section(key: str, title: str, clause: str, blocks: Iterable[Block]) -> Section:
    return Section(key=key, title=title, clause=clause, blocks=tuple(blocks))


def _text(*sentences: str, title: str = "") -> Block:
    return Block(kind="text", title=title, items=tuple(s for s in sentences if s))


def _stated(value: object) -> str:
    """Return a value in words; what no one has stated says so."""
    if value is None or value in ("", []):
        return NOT_STATED
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _facts(pairs: Mapping[str, object]) -> Block:
    rows = tuple((name, _stated(value)) for name, value in pairs.items())
    return Block(kind="facts", rows=rows)


def _entries(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, object]:
    """Return what a table holds of some keys, by their titles; an edition may not tell them all."""
    return {title: table[key] for title, key in names.items() if key in table}


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[Block]:
    cells = tuple(tuple("" if v is None else str(v) for v in row) for row in rows)
    return [Block(kind="table", title=title, heads=tuple(heads), rows=cells)] if cells else []


def _figure(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
    return str(value)


def _decision(report: Mapping[str, Any]) -> list[Block]:
    decision, blocks = report["decision"], list[Block]()
    if report.get("open"):
        blocks.append(
            Block(
                kind="list",
                title="Open: this report is a draft until each of these is settled",
                items=tuple(report["open"]),
                missing=True,
            )
        )
    names = {
        "Author": "author",
        "Approved by": "approver",
        "Expert": "expert",
        "Qualification": "qualification",
        "Date": "date",
        "Valid until": "valid_until",
        "To be reviewed when": "review_triggers",
    }
    blocks.append(_facts(_entries(decision, names)))
    if "judgement" in decision:
        blocks.append(_text(decision["judgement"] or NOT_STATED, title="Judgement"))
    marks = {"holds": "holds", "warning": "does not hold", "note": "to know"}
    rows = [(marks[c["mark"]], c["sentence"], c["reason"]) for c in decision.get("checks", [])]
    heads = ("check", "what was found", "reason filed")
    return [*blocks, *_table("Checklist", heads, rows)]


def _context(report: Mapping[str, Any]) -> list[Block]:
    found = report["context"]
    means = found["release_model_means"]
    facts = _entries(
        found, {"Purpose": "purpose", "Recipient": "recipient", "Controls": "controls"}
    )
    facts["Release model"] = f"{found['release_model']}: {means}" if means else None
    earlier = found.get("earlier_releases")
    if "earlier_releases" in found and not earlier:
        facts["Earlier releases"] = None if earlier is None else "None, as stated."
    rows = [(e["name"], e["date"], e["overlap"]) for e in earlier or ()]
    return [_facts(facts), *_table("Earlier releases", ("name", "date", "overlap"), rows)]


def _threats(report: Mapping[str, Any]) -> list[Block]:
    names = {
        "Who may try (6.2)": "adversaries",
        "Plausible outside sources (6.2)": "outside_sources",
        "Harm to people (6.3)": "harms",
    }
    facts = _entries(report["context"], names)
    return [_facts(facts)] if facts else []


def _data(report: Mapping[str, Any]) -> list[Block]:
    data = report["data"]
    facts = _entries(data, {"File": "file", "Condition on rows": "condition"})
    if "sha256" in data:
        of = "file" if data["sha256_of"] == "file" else "table's values"
        facts[f"SHA-256 of the {of}"] = data["sha256"]
    names = {
        "Rows": "rows",
        "Columns": "columns",
        "Rows left out for missing values": "rows_left_out_for_missing_values",
        "Rows not drawn into the sample": "rows_not_drawn",
        "Rows the condition left out": "rows_outside",
    }
    facts |= {title: _figure(value) for title, value in _entries(data, names).items()}
    by = f", identified by '{data['person_column']}'" if data["person_column"] else ": a row is one"
    facts["People"] = _figure(data["people"]) + by
    notes = tuple(data.get("notes", ()))
    return [
        _facts(facts),
        *([Block(kind="list", title="As it was read", items=notes)] if notes else []),
    ]


def _roles(report: Mapping[str, Any]) -> list[Block]:
    every = report["roles"]
    titles = {
        "column": "column",
        "kind": "kind",
        "role": "role",
        "reason": "reason",
        "values": "distinct",
        "published": "distinct_published",
    }
    heads = [title for title, key in titles.items() if not every or key in every[0]]
    rows = [
        [_stated(r[titles[h]]) if h == "reason" else _figure(r[titles[h]]) for h in heads]
        for r in every[:_MOST_ROLES]
    ]
    more = [_text(f"{len(every) - _MOST_ROLES:,} more columns are in the JSON.")]
    return [*_table("", heads, rows), *(more if len(every) > _MOST_ROLES else [])]


def _technique(report: Mapping[str, Any]) -> list[Block]:
    technique = report["technique"]
    set_to = [f"{n} = {_figure(v)}" for n, v in technique.get("parameters", {}).items()]
    settings: dict[str, object] = {"Settings": set_to} if set_to else {}
    blocks = [
        _text(
            f"{technique['title']}.",
            technique.get("what_was_done", technique["summary"]),
        ),
        _facts({"Source": technique["source"], "Links": technique["links"]} | settings),
    ]
    if technique["levels"]:
        rows = [(c, str(level)) for c, level in technique["levels"].items()]
        blocks += _table("Levels", ("column", "level"), rows)
    rows: list[Sequence[object]] = []
    for one in technique["published"]:
        shown = [f"{x['label'] or _MISSING} ({x['rows']:,})" for x in one["most_frequent"]]
        more = one["labels"] - len(shown)
        rows.append(
            (
                one["column"],
                _figure(one["labels"]),
                ", ".join(shown) + f" … and {more:,} more" * (more > 0),
            )
        )
    return [
        *blocks,
        *_table("Published labels, with their rows", ("column", "labels", "which"), rows),
        *_table("Hierarchies", ("column", "file"), technique.get("hierarchies", {}).items()),
        *(block for table in technique["tables"] for block in _published(table)),
    ]


def _published(table: Mapping[str, Any]) -> list[Block]:
    """Return how a published table begins; of an edition without rows, which columns it has."""
    title = f"{table['file']}: {table['rows']:,} rows"
    if not table.get("head"):
        return [_text(f"Columns: {', '.join(table['columns'])}.", title=title)]
    rows = [[cell or _MISSING for cell in row[:_WIDE]] for row in table["head"]]
    more = len(table["columns"]) - _WIDE
    title += f", the first {len(rows)}" + f" and {_WIDE} columns" * (more > 0)
    said = [_text(f"Further columns: {', '.join(table['columns'][_WIDE:])}.")] if more > 0 else []
    return [*_table(title, table["columns"][:_WIDE], rows), *said]


def _models(report: Mapping[str, Any]) -> list[Block]:
    rows = [
        (
            p["title"],
            p["column"],
            _figure(p["asked"]),
            _figure(p["reached"]),
            p["state"],
            p["sentence"],
        )
        for p in report["promises"]
    ]
    heads = ("privacy model", "column", "asked for", "reached", "state", "in words")
    said = "Recomputed from the published files by code that shares nothing with the run."
    return [_text(said), *_table("", heads, rows)]


def _thresholds(report: Mapping[str, Any]) -> list[Block]:
    found = report["thresholds"]
    rows = [
        (
            t["title"],
            t["column"],
            chance(t["threshold"]),
            chance(t["worst"]) if "worst" in t else "",
            "met" if t["met"] else "not met",
            _figure(t.get("at_risk")),
        )
        for t in found["attacks"]
    ]
    why = dict.fromkeys(t["why_this_class"] for t in found["attacks"] if t["why_this_class"])
    heads = (
        "attack",
        "column",
        "threshold",
        WORST_CHANCE.lower(),
        "verdict",
        PEOPLE_AT_RISK.lower(),
    )
    said = Block(kind="list", items=tuple(f"{w}." for w in why))
    return [
        _facts({"Where the thresholds come from": found["source"]}),
        *_table("", heads, rows),
        *([said] if why else []),
    ]


def _risk(report: Mapping[str, Any]) -> list[Block]:
    risk, blocks = report["risk"], list[Block]()
    sides = [side for side in ("before", "after") if risk.get(side) is not None]
    names = {
        "maximum": "Highest chance within a class that is known",
        "average": "Mean chance within a class that is known",
        "smallest": SMALLEST_CLASS,
        "classes": "Classes",
        "unique": f"{risk['counted'].capitalize()} alone in their class",
    }
    if sides:
        written_as = {"maximum": _chance, "average": _chance}
        rows = [
            (title, *(written_as.get(key, _figure)(risk[s][key]) for s in sides))
            for key, title in names.items()
        ]
        blocks += _table("", (f"by quasi-identifiers, in {risk['counted']}", *sides), rows)
    if sides:
        blocks.append(_by_size(risk, sides))
    if risk["why_no_after"]:
        blocks.append(_text(risk["why_no_after"]))
    tried = [a for a in risk["attacks"] if a.get("eligible", True)]
    bars = tuple(
        {
            "name": a["title"] + (f" ({a['column']})" if a["column"] else ""),
            "value": a["rate"],
            "sure": _sure(a),
            "said": _rate(a),
            "marks": {"guess": a["baseline"], **({"raw": a["raw"]} if "raw" in a else {})},
        }
        for a in tried
    )
    if bars:
        title = "What an attacker gets right: the bar; by guessing: the line"
        title += "; on the raw table: the diamond" if "raw" in tried[0] else ""
        if any(a["undecided"] for a in tried):
            title += "; pale: undecided, counted as exposed"
        blocks.append(Block(kind="bars", title=title, bars=bars))
    heads = ("attack", "column", "rate", "worst", "guess", "raw table", "undecided", "at risk")
    rows = [
        (
            a["title"],
            a["column"],
            _rate(a) + (" (estimated)" if a["estimated"] else ""),
            per_cent(a["worst"]),
            per_cent(a["baseline"]),
            per_cent(a["raw"]) if "raw" in a else "",
            _figure(a["undecided"]),
            _figure(a.get("at_risk")),
        )
        for a in tried
    ]
    return [*blocks, *_table("", heads, rows)]


def _sure(attack: Mapping[str, Any]) -> float:
    """Return the share that is right for certain: the rate less what was not decided."""
    if not attack["undecided"]:
        return attack["rate"]
    return attack["interval"][0] if attack["interval"] else 0.0


def _rate(attack: Mapping[str, Any]) -> str:
    low, high = _sure(attack), attack["rate"]
    return f"{per_cent(low)} – {per_cent(high)}" if attack["undecided"] else per_cent(high)


def _chance(value: float | None) -> str:
    return "" if value is None else chance(value)


def _by_size(risk: Mapping[str, Any], sides: Sequence[str]) -> Block:
    """Return how many people are in classes of which size, the last side drawn as bars."""
    last = sides[-1]
    total = sum(one["people"] for one in risk[last]["people_by_size"])
    bars: list[Mapping[str, Any]] = []
    for place, one in enumerate(risk[last]["people_by_size"]):
        low, high = one["least"], one["most"]
        size = (
            f"{low:,} or more" if high is None else f"{low:,}–{high:,}" if high > low else f"{low}"
        )
        shares = [
            risk[side]["people_by_size"][place]["people"]
            / max(sum(each["people"] for each in risk[side]["people_by_size"]), 1)
            for side in sides
        ]
        bars.append(
            {
                "name": f"classes of {size}",
                "value": one["people"] / max(total, 1),
                "sure": one["people"] / max(total, 1),
                "said": per_cent(shares[-1]),
                "marks": {"before": shares[0]} if len(sides) > 1 else {},
            }
        )
    title = f"Share of {risk['counted']} by the size of their class, {last}"
    title += "; the diamond: before" if len(sides) > 1 else ""
    return Block(kind="bars", title=title, bars=tuple(bars))


def _asked(report: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    asked = report.get("questions", ())
    for question in dict.fromkeys(q["question"] for q in asked):
        rows = [
            (
                q["title"],
                q["column"],
                _result(q) if q["tested"] else "not tested",
                "" if q["tested"] else q["why"],
            )
            for q in asked
            if q["question"] == question
        ]
        heads = ("attack", "column", "result", "why not tested")
        blocks += _table(question.capitalize(), heads, rows)
    return blocks


def _result(asked: Mapping[str, Any]) -> str:
    said = f"{_rate(asked)} right, at worst {per_cent(asked['worst'])}; a guess: "
    said += per_cent(asked["baseline"])
    if asked["undecided"]:
        return f"{said}; {asked['undecided']:,} undecided, counted as exposed"
    if asked["interval"]:
        low, high = asked["interval"]
        said += f"; between {per_cent(low)} and {per_cent(high)}"
    return said


def _utility(report: Mapping[str, Any]) -> list[Block]:
    found = report["utility"]
    heads = ("metric", "value", "unit", "0 unchanged – 1 all lost")
    rows = [
        (
            m["title"],
            _figure(m["value"]),
            m["unit"] if "is better" in m["unit"] else f"{m['unit']}; {m['better']} is better",
            _figure(m["share"]),
        )
        for m in found["metrics"]
    ]
    columns = {name: each for name, each in found["columns"].items() if each}
    blocks = _table("", heads, rows)
    if columns:
        titles = {m["name"]: m["title"] for m in found["metrics"]}
        every = list(dict.fromkeys(c for each in columns.values() for c in each))
        blocks += _table(
            "Lost, column by column",
            ("column", *(titles.get(n, n) for n in columns)),
            [(c, *(_figure(each.get(c)) for each in columns.values())) for c in every],
        )
    return blocks


def _statistics(report: Mapping[str, Any]) -> list[Block]:
    heads = ("statistic", "before", "after; two numbers where ranges leave it open")
    return [
        block
        for one in report.get("statistics", ())
        for block in _table(
            one["column"],
            heads,
            [(s["statistic"], s["before"], s["after"] or "–") for s in one["statistics"]],
        )
    ]


def _suppression(report: Mapping[str, Any]) -> list[Block]:
    found = report.get("suppression")
    if found is None:
        return []
    rows = [
        (
            column,
            v["value"],
            _figure(v["rows"]),
            per_cent(v["share_suppressed"]),
            f"{v['mean_loss']:.3f}",
        )
        for column, values in found["by_subgroup"].items()
        for v in values[:_SUBGROUPS]
        if v["share_suppressed"] > 0
    ]
    heads = ("column", "value", "rows", "suppressed", "mean loss")
    return [_text(found["sentence"]), *_table("Subgroups that lost most", heads, rows)]


def _alternatives(report: Mapping[str, Any]) -> list[Block]:
    if "alternatives" not in report:
        return []
    rows = [
        (
            a["name"],
            "; ".join(f"{k}: {v}" for k, v in a["figures"].items()),
            a["reason"] or NOT_STATED,
        )
        for a in report["alternatives"]
    ]
    none = [_text("No other run was kept for comparison.")]
    return _table("", ("tried", "reached", "why not"), rows) or none


def _software(report: Mapping[str, Any]) -> list[Block]:
    software = report["software"]
    facts: dict[str, object] = {
        "Program": f"{software['name']} {software['version']}"
        + (f", Python {software['python']}" if "python" in software else ""),
        "SHA-256 of the published files": software["output_sha256"],
    }
    if "command" in software:
        facts["Command"] = software["command"] or "Made on the pages."
    return [_facts(facts)]
