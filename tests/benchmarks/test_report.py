"""The origin that results of benchmarks state."""

import subprocess

from benchmarks import report


def test_only_changed_code_makes_a_commit_dirty(tmp_path, monkeypatch):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    monkeypatch.setattr(report, "REPOSITORY", tmp_path)
    assert report._commit() is None
    git("init", "--quiet")
    (tmp_path / "docs").mkdir()
    git("commit", "--quiet", "--allow-empty", "--message", "A")
    (tmp_path / "docs" / "figures.json").write_text("{}")
    clean = report._commit()
    (tmp_path / "code.py").write_text("")
    assert report._commit() == f"{clean}-dirty"
