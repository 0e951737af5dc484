"""An exported folder, loaded by sentence-transformers without changes."""

import numpy
import pytest

from allennlp_sentmatch.data.dataset_readers import SentenceVectorsReader
from allennlp_sentmatch.encoding import ArchiveEncoder, export_encoder
from tests.encoding.test_export import ENCODERS, SENTENCES, make
from tests.fresh_process import run_python

pytest.importorskip("sentence_transformers", minversion="5.3")

LOAD = """
import copy, pickle, sys, warnings
warnings.simplefilter("error", FutureWarning)
warnings.filterwarnings("error", "Importing from 'sentence_transformers")
import numpy
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(sys.argv[1], device="cpu", trust_remote_code=True)
assert model.get_embedding_dimension() == 5
numpy.save(sys.argv[2], model.encode({sentences}, batch_size=2))
assert model.similarity(model.encode(["A cat"]), model.encode(["A cat"])).item() > 0.999
assert model.encode("A cat", prompt="a ").tolist() == model.encode("a A cat").tolist()
model.save(sys.argv[3])
saved = SentenceTransformer(sys.argv[3], device="cpu", trust_remote_code=True)
for again in (saved, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
    assert type(again[0]) is type(model[0])
    assert again.encode("A cat").tolist() == model.encode("A cat").tolist()
assert model.max_seq_length is None
long = model.encode(["A cat isn't a dog", "A cat is"])
model.max_seq_length = 2
short = model.encode(["A cat isn't a dog", "A cat"])
assert abs(short[0] - short[1]).max() < 1e-6 < abs(short[0] - long[0]).max()
try:
    model.max_seq_length = 0
    raise AssertionError
except ValueError as error:
    assert str(error) == "max_seq_length must be an integer of at least 1, or None; got 0"
assert not any(name.split(".")[0] == "allennlp" for name in sys.modules)
"""


def test_sentence_transformers_loads_the_folder(tmp_path):
    model = make(ENCODERS[0], projection_size=5)
    reader = SentenceVectorsReader()
    folder, vectors, saved = (tmp_path / name for name in ("exported", "vectors.npy", "saved"))
    export_encoder(model, reader, folder)
    run = run_python(LOAD.format(sentences=SENTENCES), folder, vectors, saved)
    assert run.returncode == 0, run.stderr
    expected = ArchiveEncoder(model, reader).encode(SENTENCES, show_progress_bar=False)
    numpy.testing.assert_allclose(numpy.load(vectors), expected, atol=1e-6)
