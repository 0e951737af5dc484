"""The output of the `allennlp` program with this package loaded."""

import copy
import errno
import json
import os
import sys
import traceback
from functools import partial
from subprocess import CompletedProcess

import pytest
from allennlp.commands import ArgumentParserWithDefaults
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.common.util import SigTermReceived
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder
from allennlp.predictors import Predictor
from allennlp.training.metric_tracker import MetricTracker
from allennlp.training.util import create_serialization_dir
from torch.multiprocessing.spawn import ProcessRaisedException

from allennlp_sentmatch.commands import program
from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from tests.conftest import REPOSITORY, SMALL_QUICK_START
from tests.fresh_process import run_allennlp, run_python
from tests.models.samples import EMBEDDER

GPU_THAT_IS_NOT_THERE = """
from allennlp_sentmatch.commands import program
from allennlp_sentmatch.models.archival import load_archive
try:
    load_archive("none", 0)
except RuntimeError as error:
    print(program.mistake(error))
except FileNotFoundError:
    print("found")
"""

BUCKETS = {"type": "bucket", "batch_size": 100}
WIDE_CNN = {"type": "cnn", "embedding_dim": 4, "num_filters": 1, "ngram_filter_sizes": [99]}

COMMANDS_OF_OTHER_PLUGINS = """
from allennlp.commands.subcommand import Subcommand
for name in ("serve", "tune", "other"):
    @Subcommand.register(name)
    class Other(Subcommand):
        pass
    import allennlp_sentmatch
    print(Subcommand.by_name(name).__module__)
"""


def run(*arguments: object, **environment: str) -> "CompletedProcess[str]":
    """Run the program in a separate process, without allennlp-models, which prints on import."""
    unset = {"PYTHONPATH", "ALLENNLP_DEBUG", "ALLENNLP_LOG_LEVEL", "TQDM_DISABLE"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    return run_allennlp(
        *arguments, environment={**inherited, "PYTHONPATH": str(REPOSITORY), **environment}
    )


def test_own_subcommands_print_results_and_progress_alone(small_archive, tmp_path):
    sentences = tmp_path / "s.txt"
    vectors = tmp_path / "v.npy"
    sentences.write_text("A man is asleep.\n")
    result = run("encode", small_archive, sentences, vectors)
    assert result.returncode == 0
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line]
    (warning,) = (line for line in lines if not line.startswith("encoding: "))
    assert f"{small_archive} is a classifier, whose vectors serve to tell labels apart" in warning

    pytest.importorskip("faiss")
    result = run("search", small_archive, sentences, vectors, "--query", "A man.")
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.startswith("#\tA man.\n1\tA man is asleep.\t")


def test_another_plugin_has_commands_of_the_same_names():
    """It registers "serve" before this package does, and "tune" and its own command later."""
    result = run_python(COMMANDS_OF_OTHER_PLUGINS)
    own = [f"allennlp_sentmatch.commands.{name}" for name in ("serve", "tune")]
    assert result.stdout.splitlines() == [*own, "__main__"]
    assert result.stderr.count("the command of __main__ is left out") == 2


def test_a_mistake_is_one_sentence(tmp_path):
    arguments = ["search", tmp_path / "none.tar.gz", "corpus.txt", "vectors.npy"]
    result = run(*arguments)
    assert result.returncode == 1
    expected = f"allennlp search: error: there is no file or folder {tmp_path / 'none.tar.gz'}; a "
    assert result.stdout == ""
    assert result.stderr.startswith(expected)
    assert len(result.stderr.splitlines()) == 1
    verbose = run(*arguments, "--verbose")
    assert verbose.returncode == 1
    assert "Traceback" in verbose.stderr
    assert "FileNotFoundError" in verbose.stderr


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ({"trainer.optimizer.lr": 1e30}, "the training loss is not a number (NaN): lower the"),
        ({"trainer.use_amp": True}, "trainer.use_amp needs a GPU: remove it, or use the trainer"),
        ({"data_loader.batch_sampler": BUCKETS}, "data_loader has a batch_sampler, which makes"),
        ({"model.encoder": WIDE_CNN}, "a text has fewer words, or a word fewer characters, than"),
    ],
)
def test_errors_of_a_training(allennlp, tmp_path, overrides, sentence):
    overrides = json.dumps({**SMALL_QUICK_START, "trainer.cuda_device": -1, **overrides})
    config = "training_config/quick_start.jsonnet"
    error = _raised(allennlp, "train", config, "-s", tmp_path / "out", "-o", overrides)
    assert str(program.mistake(error)).startswith(sentence)
    assert program.mistake(ValueError("another")) is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("serch", "there is no command 'serch': did you mean 'search'?"),
        ("evaluat", "there is no command 'evaluat': did you mean 'evaluate'?"),
        ("xyz", "invalid choice: 'xyz'"),
    ],
)
def test_an_unknown_subcommand(allennlp, capsys, monkeypatch, name, sentence):
    monkeypatch.setattr(ArgumentParserWithDefaults, "error", program._error)
    with pytest.raises(SystemExit):
        allennlp(name)
    assert sentence in capsys.readouterr().err


def _raised(function, *arguments) -> BaseException:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        function(*arguments)
    return raised.value


class TestMistake:
    def test_of_files_and_configuration(self, tmp_path, small_archive):
        missing, config, no_data = (tmp_path / name for name in ("none", "config", "no_data"))
        config.write_text("{\n  a: ,\n}")
        no_data.write_text('{a: error "no data"}')
        for raised, sentence in (
            (ConfigurationError("max_length must be 1"), "max_length must be 1"),
            (_raised(open, missing), f"{missing}: No such file or directory"),
            (_raised(open, tmp_path), f"{tmp_path}: Is a directory"),
            (_raised(cached_path, missing), f"file {missing} not found"),
            (_raised(Params.from_file, config), f"{config}:2:6: "),
            (_raised(Params.from_file, no_data), "no data (jsonnet: runtime error)"),
            (BrokenPipeError(errno.EPIPE, "Broken pipe"), "the output cannot be written: Broken"),
            (OSError(errno.ENOSPC, "No space"), "the output cannot be written: No space"),
            (OSError("a/b is not a local folder and is not a valid model"), "a/b is not a local"),
            (_raised(__import__, "nothing.sdk"), "the package nothing is not installed; install"),
        ):
            assert str(program.mistake(raised)).startswith(sentence)
        raised = _raised(partial(Predictor.from_path, small_archive, treshold=0.9))
        sentence = "got an unexpected keyword argument 'treshold' (see --predictor-args)"
        assert str(program.mistake(raised)).endswith(sentence)

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            ({"type": "cas_lstm", "input_size": 6.5}, "input_size of CasLstmEncoder must be int, "),
            ({"type": "lstm", "input_size": "a"}, "input_size of LstmSeq2SeqEncoder must be int, "),
            ({"type": "sequential", "encoders": 5}, "encoders of SequentialEncoder must be list["),
            (
                {"type": "feedforward", "feedforward": [{"input_dim": 6}]},
                "feedforward of FeedForwardEncoder must be FeedForward, got [{'input_dim': 6}]",
            ),
            ({"type": "cas_ltsm"}, "encoder.type: there is no Seq2SeqEncoder 'cas_ltsm': did you"),
            ({"type": "zzz"}, "zzz not in acceptable choices for encoder.type: ["),
            (
                {"type": "boe"},
                "encoder.type: 'boe' is registered as Seq2VecEncoder, not as Seq2Seq",
            ),
        ],
    )
    def test_of_a_setting(self, settings, sentence):
        params = Params({"encoder": settings})["encoder"]
        error = _raised(Seq2SeqEncoder.from_params, params)
        assert str(program.mistake(error)).startswith(sentence)

    @pytest.mark.parametrize("matcher", ["heuristc", {"type": "heuristc"}])
    def test_of_a_component_says_where_it_is(self, matcher):
        """This also holds for a configuration that a model constructs later."""
        vocab = Vocabulary(tokens_to_add={"labels": ["no", "yes"]})

        def sentence(**parts):
            model = {"type": "siamese_classifier", "text_field_embedder": copy.deepcopy(EMBEDDER)}
            encoder = {"type": "boe", "embedding_dim": 4}
            params = Params({"model": {**model, "encoder": encoder, **parts}}).pop("model")
            return program.mistake(_raised(partial(Model.from_params, vocab=vocab), params))

        expected = "model.matcher.type: there is no Matcher 'heuristc': did you mean 'heuristic'?"
        assert sentence(matcher=matcher) == expected
        expected = "model.encoder.type: there is no Seq2VecEncoder 'pooledd': did you mean 'pooled"
        assert expected in sentence(matcher="concat", encoder="pooledd")
        # There are encoders of words with similar names, such as 'lstm'.
        expected = "'subilstm' is registered as Seq2SeqEncoder, not as Seq2VecEncoder; wrap it in {"
        assert expected in sentence(matcher="concat", encoder="subilstm")

    def test_of_a_name_on_the_command_line(self):
        error = _raised(Predictor.by_name, "sentense_piar")
        expected = "there is no Predictor 'sentense_piar': did you mean 'sentence_pair'?"
        assert program.mistake(error) == expected
        assert "zzz" in program.mistake(_raised(Predictor.by_name, "zzz"))
        expected = "'sentence_classifier' is registered as Model, not as Predictor"
        assert program.mistake(_raised(Predictor.by_name, "sentence_classifier")) == expected

    def test_of_another_process(self, write):
        """A worker of a data loader, and a process of distributed training."""
        path = write("sentence1\tsentence2\tlabel\na\tb\tyes\na\n")
        settings = {"batch_size": 2, "num_workers": 1}
        load = partial(MultiProcessDataLoader, SentencePairReader("table"), path, **settings)
        error = _raised(load)
        assert str(program.mistake(error)).startswith(f"{path}, line 3: 1 columns where")
        log = "\n".join(traceback.format_exception(None, ConfigurationError("size must"), None))
        error = ProcessRaisedException(f"-- Process 1 terminated:\n{log}", 1, 2)
        assert program.mistake(error) == "size must"
        assert program.mistake(ProcessRaisedException("RuntimeError: size", 1, 2)) is None

    def test_of_a_choice_of_another_package(self):
        """`Model.load` chooses a vocabulary, and other packages have choices of their own."""

        def choose(cls, name, names):
            return Params({"type": name}).pop_choice("type", names)

        error = _raised(choose, Model, "from_filez", Vocabulary.list_available())
        expected = "type: there is no Vocabulary 'from_filez': did you mean 'from_files'?"
        assert program.mistake(error) == expected
        error = _raised(choose, None, "fastt", ["fast", "slow"])
        assert program.mistake(error) == "type: there is no 'fastt': did you mean 'fast'?"

    def test_of_a_metric_that_the_model_does_not_have(self):
        metrics = {"accuracy": 0.5, "f1_macro": 0.4, "loss": 1.0}
        error = _raised(MetricTracker("+f1").add_metrics, metrics)
        sentence = "Set trainer.validation_metric to + or - one of accuracy, f1_macro, loss."
        assert str(program.mistake(error)).endswith(sentence)

    def test_of_an_argument_of_a_configuration(self):
        config = "training_config/own_pairs.jsonnet"
        call = f"(import '{REPOSITORY / config}')(lable='same')"
        error = _raised(Params.from_file, REPOSITORY / config, call)
        sentence = program.mistake(error)
        assert f"{config} has no parameter 'lable': did you mean 'label'?" in sentence
        assert "train, validation, sentence1" in sentence

    def test_of_an_argument_in_a_file(self, tmp_path):
        (tmp_path / "own.jsonnet").write_text("function(epochs=1) { epochs: epochs }")
        config = tmp_path / "config.jsonnet"
        config.write_text("(import 'own.jsonnet')(epoch=2)")
        sentence = "own.jsonnet has no parameter 'epoch': did you mean 'epochs'?"
        assert str(program.mistake(_raised(Params.from_file, config))).startswith(sentence)

    @pytest.mark.parametrize("name", ["nobody/nothing", "/no/such/folder"])
    def test_of_a_transformer_that_is_not_found(self, monkeypatch, name):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        settings = {"type": "pretrained_transformer", "model_name": name}
        error = _raised(Tokenizer.from_params, Params(settings))
        sentence = str(program.mistake(error))
        assert sentence.startswith(str(error)[:30])
        assert "give the folder instead of its name" in sentence

    def test_of_a_gpu_that_is_not_there(self):
        # In a process without the simulated GPU of other tests.
        found = run_python(GPU_THAT_IS_NOT_THERE)
        assert found.returncode == 0, found.stderr
        if found.stdout == "found\n":
            pytest.skip("there is a GPU, or an early torch, which fails later")
        sentence = "cuda_device is 0, but torch finds no GPU here: set it to -1, or leave it out"
        assert found.stdout.strip() == sentence

    def test_of_a_folder_of_another_training(self, tmp_path):
        folder = tmp_path / "out"
        create_serialization_dir(
            Params({}),
            folder,
            recover=False,
            force=False,
        )

        def sentence(recover: bool, **settings: int) -> str:
            arguments = (Params(settings), folder, recover, False)
            return str(program.mistake(_raised(create_serialization_dir, *arguments)))

        (folder / "notes.txt").touch()
        found = sentence(recover=False)
        assert found.startswith(
            f"{folder} is not empty, and holds no training: name another folder"
        )
        assert "(--force would delete everything in it)" in found
        (folder / "config.json").write_text('{"seed": 1}')
        for recover in (False, True):
            found = sentence(recover, seed=2)
            assert found.startswith(f"{folder}: there is nothing to recover")
            assert "--force" in found
        (folder / "model_state_e1_b0.th").touch()
        found = sentence(recover=False)
        assert "Specify --recover" in found
        assert "Or specify --force" in found

    @pytest.mark.parametrize(
        ("error", "sentence"),
        [
            (KeyboardInterrupt(), "stopped by Ctrl-C"),
            (SigTermReceived(), "stopped by SIGTERM"),
        ],
    )
    def test_of_a_signal(self, error, sentence, capsys, monkeypatch):
        monkeypatch.setattr(sys, "argv", ["allennlp", "train", "config.json"])
        program._hook(sys.excepthook)(type(error), error, None)
        assert capsys.readouterr().err == f"allennlp train: {sentence}\n"
