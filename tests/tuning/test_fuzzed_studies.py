"""Altered studies go on, or are refused by an error that has a name; so are search spaces."""

import json
import math
import shutil
import sqlite3

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.tuning import SearchSpace, Tuner
from tests.fuzzing import NASTY, cases, changed_bytes, changed_json, check_cases, check_sentence
from tests.tuning.conftest import RATES, metrics_of

optuna = pytest.importorskip("optuna")

LR = "trainer.optimizer.lr"
SPACE = {LR: {"type": "categorical", "choices": list(RATES)}}
CONFIGURATION = {
    "validation_data_path": "validation.tsv",
    "trainer": {"optimizer": {"lr": 1.0}, "validation_metric": "+accuracy"},
}
SPACES = [
    SPACE,
    {LR: {"type": "float", "low": 1e-5, "high": 1e-3, "log": True}},
    {"model.size": {"type": "int", "low": 4, "high": 8, "step": 2}, **SPACE},
    {"all": {"type": "categorical", "choices": {"low": {LR: 0.1}, "high": {LR: 0.2}}}},
]


@pytest.fixture
def training(monkeypatch):
    """In place of trainings: the figure is the learning rate."""

    def train(self, trial):
        figure = trial.params[LR]
        trial.set_user_attr("metrics", metrics_of(figure))
        (self.folder / "trials" / f"{trial.number}.json").write_text("{}")
        return figure

    monkeypatch.setattr(Tuner, "_train", train)


def tables_of(database):
    """The rows of each table, with their names of columns."""
    with sqlite3.connect(database) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        tables = {}
        for name in names:
            cursor = connection.execute(f"SELECT rowid, * FROM {name}")
            tables[name] = [column[0] for column in cursor.description], cursor.fetchall()
    connection.close()
    return {name: table for name, table in tables.items() if table[1]}


@st.composite
def alterations(draw, tables):
    """A statement of SQL, with its parameters."""
    name = draw(st.sampled_from(sorted(tables)))
    columns, rows = tables[name]
    row = draw(st.sampled_from(rows))
    change = draw(st.sampled_from(["value", "value", "value", "value", "delete", "empty", "drop"]))
    if change == "drop":
        return f"DROP TABLE {name}", ()
    if change == "empty":
        return f"DELETE FROM {name}", ()
    if change == "delete":
        return f"DELETE FROM {name} WHERE rowid = ?", (row[0],)
    number = draw(st.integers(1, len(columns) - 1))
    values = st.one_of(
        st.none(),
        st.integers(-3, 9),
        st.floats(),
        st.binary(max_size=3),
        st.sampled_from(NASTY).map(lambda text: text.encode("utf-8", "replace").decode()),
        st.sampled_from([row[number] for row in rows]),
    )
    if columns[number].endswith("_json"):
        values = st.one_of(values, changed_json(json.loads(row[number])).map(json.dumps))
    return f"UPDATE {name} SET {columns[number]} = ? WHERE rowid = ?", (draw(values), row[0])


@cases(30, 2000)
def test_studies(training, tmp_path, num_cases):
    original, folder = tmp_path / "original", tmp_path / "study"
    Tuner(CONFIGURATION, SearchSpace(SPACE), original).run()
    database = folder / "study.db"
    tables = tables_of(original / "study.db")

    def check(change):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder)
        if isinstance(change, bytes):
            database.write_bytes(change)
        else:
            connection = sqlite3.connect(database)
            try:
                with connection:
                    connection.execute(*change)
            except (sqlite3.Error, UnicodeError, OverflowError):
                return  # refused by SQLite
            finally:
                connection.close()
        try:
            report = Tuner(CONFIGURATION, SearchSpace(SPACE), folder).run()
        except Exception as error:
            check_sentence(error, most_bytes=20_000)  # values may be shown whole
            return
        json.dumps(report)
        assert math.isfinite(report["best"]["value"])
        assert report["best"]["values"][LR] in RATES

    content = changed_bytes((original / "study.db").read_bytes())
    check_cases(check, st.one_of(alterations(tables), alterations(tables), content), num_cases)


@cases(60, 2000)
def test_search_spaces(tmp_path, num_cases):
    file = tmp_path / "space.json"

    def check(content):
        file.write_bytes(content)
        try:
            space = SearchSpace.from_file(file)
            Tuner(CONFIGURATION, space, tmp_path / "study")
        except Exception as error:
            check_sentence(error, most_bytes=20_000)  # values may be shown whole
            return
        values = optuna.create_study().ask(space.distributions).params
        json.dumps(space.overrides(values))

    spaces = st.sampled_from(SPACES)
    changed = st.one_of(
        spaces.flatmap(changed_json).map(json.dumps).map(str.encode),
        spaces.map(json.dumps).map(str.encode).flatmap(changed_bytes),
    )
    check_cases(check, changed, num_cases)
