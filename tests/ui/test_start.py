"""Start: samples, files and recipes, and that a mistake leaves the work alone."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError, BadInput, InputChanged
from anon_core.base.secret import is_secret
from anon_core.data.reading import DataOptions
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import SAMPLES, Sample
from anon_core.data.samples.base import Sample as SampleType
from anon_core.explain.text import phrases as words
from anon_core.pipeline.runner import run
from anon_core.recipe.old_recipes import VERSION
from ui.state import loading, state
from ui.state.loading import Opened
from ui.words.escaping import plain

RECIPE = """
seed = 3
[data]
missing = "drop"
[roles]
identifier = ["Name"]
quasi = ["Zip", "Age"]
sensitive = ["Salary"]
[hierarchies]
Zip = "levels/Zip.csv"
[algorithm]
name = "optimal"
max_suppression = 0.5
[[models]]
name = "k-anonymity"
k = 2
"""


def test_shows_every_sample_and_no_table(start: AppTest) -> None:
    assert not start.exception
    for one in SAMPLES:
        assert start.button(key=f"start/sample/{one.name}")
    assert "No table yet" in [c.value for c in start.sidebar.caption]


def test_a_sample_sets_everything(start: AppTest) -> None:
    start.button(key="start/sample/toth-private").click().run()
    assert not start.exception
    work = start.session_state["state/work"]
    assert work["roles"]["quasi"] == ["Zip", "Age"]
    assert set(work["levels"]) == {"Zip", "Age"}
    assert work["draft"]["models"] == [{"name": "k-anonymity", "k": 2}]
    assert any("Toth" in m.value and "8 rows" in m.value for m in start.markdown)


@pytest.mark.parametrize("one", [one for one in SAMPLES if one.available()], ids=lambda o: o.name)
def test_a_sample_opens_with_its_own_promise_as_threshold(session: None, one: Sample) -> None:
    loading.load_sample(one.name)
    assert not state.can_undo()
    plan = state.plan()
    limits = [a.as_mapping() for a in plan.all_attacks()]
    assert {a["threshold"] for a in limits if "threshold" in a} == {1 / one.k}
    assert plan.algorithm.name == one.algorithm["name"]
    if one.rows <= 10:
        data, levels = state.dataset(), state.levels()
        assert data is not None
        result = run(plan, data, {c: levels[c] for c in plan.hierarchies})
        lines = [words.against_threshold(a) for a in result.attacks]
        assert "not met" not in {line.standing for line in lines}


def test_a_card_tells_how_to_get_the_papers_table(start: AppTest) -> None:
    for one in SAMPLES:
        answer = start.button(key=f"start/sample/{one.name}").help
        for words_ in (one.summary, one.shows, one.attribution):
            assert plain(words_) in answer


def test_a_file_that_is_nothing_of_the_kind_is_refused_by_name(start: AppTest) -> None:
    picture = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    start.file_uploader(key="start/upload/0").upload("cat.png", picture, "image/png").run()
    assert not start.exception
    (answer,) = start.error
    assert "'cat.png' cannot be opened here; allowed: a table" in answer.value.replace("\\", "")
    assert "Choose other files" in answer.value
    # The picture is gone: what is chosen next is not refused because of it.
    start.file_uploader(key="start/upload/1").upload("t.csv", b"age,zip\n31,5370\n", "text/csv")
    start.run()
    assert not start.error
    assert "t.csv" in "".join(one.value for one in start.markdown).replace("\\", "")


def test_slide_30_is_what_the_card_says(session: None) -> None:
    loading.load_sample("samarati")
    state.set_roles(
        Roles(identifier=("DOB", "Sex", "Marital"), quasi=("Race", "ZIP"), sensitive=("Disease",))
    )
    plan, data, levels = state.plan(), state.dataset(), state.levels()
    assert data is not None
    result = run(plan, data, {c: levels[c] for c in plan.hierarchies})
    assert result.account.node in ({"Race": 1, "ZIP": 0}, {"Race": 0, "ZIP": 1})
    assert result.release.suppressed == 2


def test_figure_2_3_is_what_the_card_says(session: None) -> None:
    loading.load_sample("toth-private")
    plan, data, levels = state.plan(), state.dataset(), state.levels()
    assert data is not None
    result = run(plan, data, {c: levels[c] for c in plan.hierarchies})
    assert result.account.node == {"Zip": 1, "Age": 0}


def test_the_table_before_comes_back(start: AppTest) -> None:
    start.button(key="start/sample/toth-private").click().run()
    start.button(key="start/sample/samarati").click().run()
    start.button(key="start/undo_dataset").click().run()
    assert not start.exception
    assert start.session_state["state/work"]["title"] == "Toth: private table"


def test_an_unavailable_sample_says_why(monkeypatch: pytest.MonkeyPatch, start: AppTest) -> None:
    monkeypatch.setattr(SampleType, "why_unavailable", lambda self: f"{self.title} is not here.")
    start.run()
    said = [one for one in start.caption if "Not on this computer" in one.value]
    assert [one.proto.help for one in said] == [f"{plain(s.title)} is not here\\." for s in SAMPLES]
    assert all(start.button(key=f"start/sample/{one.name}").disabled for one in SAMPLES)


def test_a_sample_that_breaks_shows_the_error(
    monkeypatch: pytest.MonkeyPatch, start: AppTest
) -> None:
    def broken(self: Sample) -> None:
        raise BadInput("It is broken.", remedy="Fetch it again.")

    start.button(key="start/sample/samarati").click().run()
    monkeypatch.setattr(SampleType, "frame", broken)
    start.button(key="start/sample/toth-public").click().run()
    assert "It is broken" in start.error[0].value
    assert start.session_state["state/work"]["title"] == "Samarati: nine patients"


def test_a_wrong_file_leaves_the_work(session: None) -> None:
    loading.load_sample("toth-private")
    before = state.fingerprint()
    with pytest.raises(BadInput):
        loading.load_file(Opened(name="x.csv", content=b"a,b\n1\n"), DataOptions())
    assert state.fingerprint() == before


def test_a_file_is_loaded_and_kept_for_reading_again(session: None) -> None:
    content = b"a;b\n1;x\n2;-\n"
    loading.load_file(Opened(name="x.csv", content=content), DataOptions())
    assert state.dataset_title() == "x.csv"
    assert state.file() == content
    state.set_roles(loading.Roles(quasi=("a", "b")))
    loading.read_again(DataOptions(missing_values=("-",)))
    data = state.dataset()
    assert data is not None
    assert data.column("b").missing == 1
    assert state.roles().quasi == ("a", "b")


def test_a_file_too_large_to_keep_is_not_kept(
    session: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "MOST_KEPT_BYTES", 4)
    loading.load_file(Opened(name="x.csv", content=b"a,b\n1,x\n"), DataOptions())
    assert state.file() is None
    with pytest.raises(BadInput, match="too large"):
        loading.read_again(DataOptions())


def test_a_table_is_read_again_as_the_recipe_says(start: AppTest) -> None:
    content = b"Zip;Age;Job\n5370;20;x\n5371;unknown;y\n"
    recipe = (
        '[data]\nmissing_values = ["unknown"]\n[types]\nAge = "text"\n[roles]\n'
        'quasi = ["Zip", "Age"]\n[algorithm]\nname = "mondrian"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    start.file_uploader(key="start/upload/0").upload("x.csv", content, "text/csv").run()
    start.file_uploader(key="start/upload/1").upload("r.toml", recipe.encode(), "text/x").run()
    assert any("other import settings" in note.value for note in start.info)
    start.button(key="start/read_again").click().run()
    assert not start.exception
    assert start.session_state["state/dataset"].column("Age").missing == 1
    work = start.session_state["state/work"]
    assert work["draft"]["algorithm"]["name"] == "mondrian"
    assert work["roles"]["quasi"] == ["Zip", "Age"]
    assert any("with the recipe" in note.value for note in start.info)
    assert "start/read_again" not in [button.key for button in start.button]


def test_a_recipe_that_fits_only_a_table_read_otherwise(start: AppTest) -> None:
    content = b"Zip;Age;Job\n5370;20;x\n5371;unknown;y\n"
    recipe = (
        '[data]\nmissing_values = ["unknown"]\n[types]\nAge = "number"\n[roles]\n'
        'quasi = ["Zip", "Age"]\n[algorithm]\nname = "optimal"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    start.file_uploader(key="start/upload/0").upload("x.csv", content, "text/csv").run()
    start.file_uploader(key="start/upload/1").upload("r.toml", recipe.encode(), "text/x").run()
    assert "declared as number" in start.error[0].value
    start.button(key="start/read_again").click().run()
    assert not start.exception
    assert not start.error
    assert start.session_state["state/work"]["roles"]["quasi"] == ["Zip", "Age"]
    assert start.session_state["state/work"]["draft"]["types"] == {"Age": "number"}
    assert start.session_state["state/dataset"].column("Age").missing == 1


def test_a_sample_has_no_file_to_read_again(session: None) -> None:
    loading.load_sample("toth-private")
    other = RECIPE.replace("[data]", '[data]\nencoding = "cp1252"')
    assert loading.recipe_reading(Opened(name="r.toml", content=other.encode())) is None


def test_a_recipe_sets_everything(session: None) -> None:
    loading.load_sample("toth-private")
    first = state.plan().seed
    levels = b"5370;*\n5371;*\n5372;*\n5373;*\n"
    notes = loading.open_recipe(
        Opened(name="r.toml", content=RECIPE.encode()), [Opened(name="Zip.csv", content=levels)]
    )
    assert len(notes) == 2
    for note, kept, subject in zip(notes, state.notes(), ("insensitive", "seed"), strict=True):
        assert note == f"The recipe is of an older version. {kept}"
        assert subject in kept
    plan = state.plan()
    assert plan.notes == (), "what is open is of this version"
    assert plan.seed == 3  # an old recipe opens with the seed it has
    assert plan.data.missing == "drop"
    assert state.levels() == {"Zip": [["5370", "*"], ["5371", "*"], ["5372", "*"], ["5373", "*"]]}
    assert state.undo()
    assert state.plan().seed == first
    assert state.notes() == ()
    same = f"version = {VERSION}\n{RECIPE}".encode()
    assert loading.open_recipe(Opened(name="r.toml", content=same)) == ()
    assert state.notes() == ()


def test_every_table_begins_with_a_secret_of_its_own(session: None) -> None:
    found: list[int] = []
    for _ in range(2):
        loading.load_sample("toth-private")
        found.append(state.plan().seed)
        assert state.plan().seed == found[-1]  # and keeps it
    recipe = RECIPE.replace("seed = 3\n", "")
    loading.open_recipe(Opened(name="r.toml", content=recipe.encode()))
    found.append(state.plan().seed)
    assert state.plan().seed == found[-1]
    state.draw_seed()
    found.append(state.plan().seed)
    assert len(set(found)) == 4
    assert all(is_secret(seed) for seed in found)
    assert state.undo()
    assert state.plan().seed == found[2]


def test_a_recipe_takes_the_hierarchies_that_are_there(session: None) -> None:
    loading.load_sample("toth-private")
    before = state.levels()["Zip"]
    loading.open_recipe(Opened(name="r.toml", content=RECIPE.encode()))
    assert state.levels() == {"Zip": before}


@pytest.mark.parametrize(
    ("sample", "text", "error", "words"),
    [
        ("samarati", RECIPE, InputChanged, "Name"),
        ("toth-private", "seed = ", AnonError, "TOML"),
        ("toth-private", RECIPE.replace("Zip =", "Salary ="), AnonError, "Zip.csv"),
        ("toth-private", RECIPE.replace("k = 2", "k = 1"), AnonError, "at least 2"),
    ],
)
def test_a_recipe_that_does_not_fit_changes_nothing(
    session: None, sample: str, text: str, error: type[AnonError], words: str
) -> None:
    loading.load_sample(sample)
    before = state.fingerprint()
    with pytest.raises(error, match=words):
        loading.open_recipe(Opened(name="r.toml", content=text.encode()))
    assert state.fingerprint() == before


def test_a_recipe_needs_a_table(session: None) -> None:
    with pytest.raises(BadInput, match="none is loaded"):
        loading.open_recipe(Opened(name="r.toml", content=RECIPE.encode()))


@pytest.mark.parametrize(
    "text",
    ["<b>x</b>", "[a](http://x.y)", "*a*", "$x$", ":red[a]", "# a", "`a`", "~~a~~", "a|b", "1. a"],
)
def test_plain_escapes_every_mark(text: str) -> None:
    shown = plain(text)
    for mark in "<>[]()*$#`~|":
        assert shown.count(mark) == shown.count(f"\\{mark}")


def test_plain_breaks_what_is_found_after_parsing() -> None:
    assert ":smile:" not in plain(":smile:").replace("\\", "")
    assert "://" not in plain("http://x.y").replace("\\", "")
    assert "a@b" not in plain("a@b.cd").replace("\\", "")
