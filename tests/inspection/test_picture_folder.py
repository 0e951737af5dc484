import pytest
from allennlp.common.checks import ConfigurationError

pytest.importorskip("seaborn")
pytest.importorskip("svgling")

from allennlp_sentmatch.inspection import draw_into_folder

PAIR = {"premise": "A man is asleep.", "hypothesis": "A dog runs."}


@pytest.fixture
def predictor(small_archive):
    from allennlp.predictors import Predictor

    from allennlp_sentmatch.models.archival import load_archive

    return Predictor.from_archive(load_archive(small_archive))


def test_one_picture_an_input(predictor, tmp_path):
    trees = list(draw_into_folder(tmp_path / "o", {"m": predictor}, [PAIR, PAIR], ["saliency"]))
    assert trees == []  # a CAS-LSTM has none
    names = sorted(file.name for file in (tmp_path / "o").iterdir())
    assert [name[:5] for name in names] == ["0001_", "0002_"]


def test_a_bad_input_is_named_and_leaves_no_folder(predictor, tmp_path):
    inputs = [PAIR, {"premise": "A man."}]
    with pytest.raises(ConfigurationError, match=r"pairs\.jsonl, input 2: expected premise"):
        list(
            draw_into_folder(
                tmp_path / "o", {"m": predictor}, inputs, ["saliency"], source="pairs.jsonl"
            )
        )
    assert not (tmp_path / "o").exists()
