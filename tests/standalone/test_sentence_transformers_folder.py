"""Folders of sentence-transformers that name code to run."""

import json

import numpy
import pytest

from allennlp_sentmatch import PairClassifier, SentenceEncoder
from allennlp_sentmatch.standalone.sentence_transformers_folder import (
    check_sentence_transformers_folder,
)
from allennlp_sentmatch.standalone.vectors import normalized
from tests.estimators.tiny_encoder import SENTENCES, tiny_encoder

models = pytest.importorskip("sentence_transformers.models")

ST = "sentence_transformers.models."
BERT = {
    "idx": 0,
    "name": "0",
    "path": "",
    "type": f"{ST}Transformer",
}
POOLING = {
    "idx": 1,
    "name": "1",
    "path": "1_Pooling",
    "type": f"{ST}Pooling",
}
CODE = """
import os
open(os.environ["EVIDENCE"], "w")
class Evil:
    load = classmethod(lambda cls, *args, **options: cls())
"""


def of(module, name, **settings):
    """A folder of one module with settings."""
    modules = [{**BERT, "type": f"{ST}{module}", "path": "0"}]
    return {"modules.json": modules, f"0/{name}": settings}


HOSTILE = {
    "a module": {"modules.json": [{**BERT, "type": "evil.Evil"}]},
    "a later module": {"modules.json": [BERT, POOLING, {**POOLING, "type": "evil.Evil"}]},
    "custom_st": {"modules.json": [{**BERT, "type": "custom_st.Evil"}]},
    "a similar name": {"modules.json": [{**BERT, "type": "sentence_transformers_evil.Evil"}]},
    "dots": {"modules.json": [{**BERT, "type": "sentence_transformers.../../evil.Evil"}]},
    "a program": {"modules.json": [{**BERT, "type": "subprocess.Popen"}]},
    "no string": {"modules.json": [{**BERT, "type": ["evil.Evil"]}]},
    "a router": of("Router", "router_config.json", types={"a": "evil.Evil"}, structure={"a": []}),
    "an old router": of("Asym", "config.json", types={"a": "evil.Evil"}, structure={"a": []}),
    "a tokenizer": of(
        "WordEmbeddings", "wordembedding_config.json", tokenizer_class="evil.Evil", max_seq_length=9
    ),
    "an activation": of(
        "Dense", "config.json", in_features=1, out_features=1, activation_function="evil.Evil"
    ),
    "another folder": {"modules.json": [{**BERT, "path": "../elsewhere"}]},
    "another folder of a router": of("Router", "router_config.json", types={"/tmp": f"{ST}Router"}),
    "trust": {
        "modules.json": [BERT],
        "sentence_bert_config.json": {"model_args": {"trust_remote_code": True}},
    },
    "deep": {"modules.json": [BERT], "config.json": "[" * 100_000},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVIDENCE", str(tmp_path / "evidence"))
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("evil.py", "custom_st.py", "sentence_transformers_evil.py"):
        (folder / name).write_text(CODE)
    return folder


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_names_code_is_refused(folder, kind):
    write(folder, HOSTILE[kind])
    pairs = [("a", "b"), ("b", "c")]
    for use in (SentenceEncoder, lambda path: PairClassifier(encoder=path).fit(pairs, [0, 1])):
        with pytest.raises(ValueError, match=r"folder/.*\.json.*(class|not in|trust_rem|not JSON)"):
            use(str(folder))
    assert not (folder.parent / "evidence").exists()


def test_a_linked_subfolder_is_refused(folder):
    write(folder, {"modules.json": [{**BERT, "path": "0_Router"}]})
    (folder / "0_Router").symlink_to(folder)
    with pytest.raises(ValueError, match="0_Router is a link to another folder"):
        SentenceEncoder(folder)


def test_the_command_refuses_it_too(allennlp, folder):
    from allennlp.common.checks import ConfigurationError

    write(folder, HOSTILE["a module"])
    with pytest.raises(ConfigurationError, match=r"modules\.json: the class 'evil\.Evil' is not"):
        allennlp("transfer", "--sentence-transformer", folder, "--data", folder)


def test_folders_of_sentence_transformers_are_opened(folder, tiny_bert):
    from sentence_transformers import SentenceTransformer

    bert = models.Transformer(tiny_bert)
    pooling = models.Pooling(8)
    dense = models.Dense(8, 4)
    (folder / "model").mkdir()
    SentenceTransformer(modules=[bert, pooling, dense], device="cpu").save(str(folder / "model"))
    # transformers runs an auto_map's code only with trust_remote_code.
    config = json.loads((folder / "model" / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}
    (folder / "model" / "config.json").write_text(json.dumps(config))
    (folder / "model" / "evil.py").write_text(CODE)
    assert SentenceEncoder(folder / "model").encode(["a"]).shape == (1, 4)
    assert not (folder.parent / "evidence").exists()
    check_sentence_transformers_folder(tiny_bert)  # without modules.json


def test_prompts_are_those_of_sentence_transformers(tmp_path):
    pytest.importorskip("sentence_transformers", minversion="5.3")
    from sentence_transformers import SentenceTransformer

    from allennlp_sentmatch.standalone.sentence_transformers_module import StandaloneModule

    model = SentenceTransformer(
        modules=[StandaloneModule(tiny_encoder())],
        prompts={"query": "not ", "document": "a dog sees ", "other": "runs "},
        device="cpu",
    )
    model.save(str(tmp_path / "model"))
    query = model.encode_query(["a cat"])
    documents = model.encode_document(SENTENCES)
    expected = (normalized(query) @ normalized(documents).T)[0]
    other = model.encode(SENTENCES, prompt_name="other")
    for encoder in (SentenceEncoder(model), SentenceEncoder(tmp_path / "model")):
        found = {one.position: one.cosine for one in encoder.search("a cat", SENTENCES)}
        assert [found[i] for i in range(len(SENTENCES))] == pytest.approx(expected.tolist())
        assert abs(encoder.encode(SENTENCES, prompt_name="other") - other).max() < 1e-6
        assert abs(encoder.encode(SENTENCES) - other).max() > 0.01


def test_a_folder_may_keep_the_first_dimensions_only(tmp_path):
    pytest.importorskip("sentence_transformers", minversion="5.3")
    from sentence_transformers import SentenceTransformer

    from allennlp_sentmatch.standalone.sentence_transformers_module import StandaloneModule

    modules = [StandaloneModule(tiny_encoder())]
    model = SentenceTransformer(modules=modules, truncate_dim=2, device="cpu")
    model.save(str(tmp_path / "model"))
    expected = SentenceTransformer(str(tmp_path / "model"), trust_remote_code=True)
    vectors = SentenceEncoder(tmp_path / "model").encode(SENTENCES)
    numpy.testing.assert_allclose(vectors, expected.encode(SENTENCES), atol=1e-6)


@pytest.mark.parametrize(
    "files",
    [
        {"modules.json": [{**BERT, "type": f"{ST}Nothing"}]},
        {"modules.json": [{**BERT, "type": "sentence_transformers.nothing.Nothing"}]},
        {"modules.json": [{**BERT, "type": f"{ST}Dense"}]},
        {"modules.json": [3]},
        of("Dense", "config.json", in_features="x", out_features=1),
    ],
)
def test_folders_that_sentence_transformers_cannot_read_are_named(folder, files):
    write(folder, files)
    with pytest.raises(ValueError, match=f"{folder} is a folder that sentence-transformers cannot"):
        SentenceEncoder(folder)
