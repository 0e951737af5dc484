"""A corpus on disk has every vector in its order, after interruptions and damage, too."""

import errno
import json
import os
import shutil
from functools import partial
from itertools import repeat

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import strategies as st

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.corpora import encode_corpus, unfinished_run
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.digests import ENDING_LENGTH, MARK
from allennlp_sentmatch.files.vectors import check_sentences, map_vectors
from tests.estimators.tiny_encoder import tiny_encoder
from tests.fuzzing import cases, check_cases, check_sentence, damaged, replace

WORDS = ["a", "bb", "ccc", "dddd", "eeeee"]
SENTENCES = [" ".join(WORDS[: 1 + i % 5]) + f" {i % 13}" for i in range(40)] + ["", "a 0"]


class FakeEncoder:
    """Encodes a sentence as its length and its bytes' sum, after a call of `interfere`."""

    vector_size = 2

    def __init__(self, interfere=lambda encoded: None):
        self.encoded = []
        self._interfere = interfere

    def encode_blocks(self, blocks, batch_size):
        for block in blocks:
            self._interfere(self.encoded)
            self.encoded.extend(block)
            yield vectors_of(block)


def vectors_of(sentences):
    rows = [[len(sentence), sum(sentence.encode())] for sentence in sentences]
    return numpy.array(rows, dtype=numpy.float32).reshape(-1, 2)


def encode(encoder, output, *corpora, **settings):
    """Encode `SENTENCES`, or a corpus that may be another one when it is read again."""
    rest = iter(corpora) if len(corpora) > 1 else repeat(*(corpora or [SENTENCES]))
    settings = {
        "block_size": 7,
        "show_progress_bar": False,
        "fingerprint": "fake",
        **settings,
    }
    encode_corpus(encoder, lambda: iter(next(rest)), output, **settings)


def encode_until(number, output, *corpora, **settings):
    """Interrupt a run after it encoded this many sentences, and return them."""

    def interrupt(encoded):
        if len(encoded) >= number:
            raise KeyboardInterrupt

    encoder = FakeEncoder(interrupt)
    with pytest.raises(KeyboardInterrupt):
        encode(encoder, output, *corpora, **settings)
    assert not output.exists()
    return encoder.encoded


def assert_encoded(output, sentences=SENTENCES):
    numpy.testing.assert_array_equal(numpy.load(output, mmap_mode="r"), vectors_of(sentences))


def test_vectors_are_in_order_and_duplicates_are_encoded_once(tmp_path, capsys):
    encoder = FakeEncoder()
    encode(encoder, tmp_path / "v.npy")
    assert "encoding" not in capsys.readouterr().err
    assert_encoded(tmp_path / "v.npy")
    assert sorted(encoder.encoded) == sorted(set(SENTENCES))
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]
    check_sentences(SENTENCES, tmp_path / "v.npy")
    with pytest.raises(ValueError, match=r"v\.npy was made from other sentences"):
        check_sentences(SENTENCES[::-1], tmp_path / "v.npy")
    encode(
        FakeEncoder(),
        tmp_path / "empty.npy",
        [],
        show_progress_bar=True,
    )
    assert_encoded(tmp_path / "empty.npy", [])
    assert "encoding" in capsys.readouterr().err


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    encode(FakeEncoder(), tmp_path / "whole.npy")
    first = encode_until(14, tmp_path / "v.npy")
    assert 14 <= len(first) < len(set(SENTENCES))
    second = FakeEncoder()
    encode(second, tmp_path / "v.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert sorted(first + second.encoded) == sorted(set(SENTENCES))


def test_a_run_is_not_resumed_with_another_model_of_the_same_size(tmp_path):
    class OtherEncoder(FakeEncoder):
        def encode_blocks(self, blocks, batch_size):
            return (vectors[:, ::-1] for vectors in super().encode_blocks(blocks, batch_size))

    encode_until(7, tmp_path / "v.npy", fingerprint="")
    with pytest.raises(ValueError, match=r"v\.npy\.partial .* another model .* Delete the folder"):
        encode(OtherEncoder(), tmp_path / "v.npy", fingerprint="")
    encode(FakeEncoder(), tmp_path / "v.npy", fingerprint="")
    assert_encoded(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("corpora", "settings", "message"),
    [
        ([SENTENCES[:-1]], {}, "'sentences'"),
        ([], {"fingerprint": "another"}, "'encoder'"),
        ([], {"batch_size": 3}, "'batch_size'"),
        ([], {"block_size": 8}, "'block_size'"),
        ([], {"block_size": 0}, "block_size must be an integer of at least 1; got 0"),
        ([SENTENCES, SENTENCES[:-1]], {}, "were changed while .* delete the folder"),
        ([SENTENCES, [*SENTENCES[:30], "?", *SENTENCES[31:]]], {}, "were changed while"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings(tmp_path, corpora, settings, message):
    encode_until(7, tmp_path / "v.npy")
    with pytest.raises(ValueError, match=message):
        encode(FakeEncoder(), tmp_path / "v.npy", *corpora, **settings)
    assert not (tmp_path / "v.npy").exists()


@pytest.mark.parametrize("formats", [("bfloat16", "float32"), ("float32", "bfloat16")])
def test_a_run_is_not_resumed_in_another_format(tmp_path, formats):
    """`dtype="auto"` may be another format on another processor."""
    first, second = (SentenceEncoder(tiny_encoder(), dtype=dtype) for dtype in formats)
    sentences = [f"a cat {i}" for i in range(20)]

    def interrupted():
        yield from sentences[:14]
        raise KeyboardInterrupt

    readings = iter([iter(sentences), interrupted()])
    with pytest.raises(KeyboardInterrupt):
        encode_corpus(first, lambda: next(readings), tmp_path / "v.npy", block_size=7)
    with pytest.raises(ValueError, match=r"another setting of 'dtype' .* delete the folder"):
        encode_corpus(second, lambda: iter(sentences), tmp_path / "v.npy", block_size=7)
    encode_corpus(first, lambda: iter(sentences), tmp_path / "v.npy", block_size=7)
    numpy.testing.assert_allclose(
        numpy.load(tmp_path / "v.npy"), first.encode(sentences), atol=1e-6
    )


def test_files_that_cannot_be_written(tmp_path):
    (tmp_path / "v.npy").write_text("mine")
    with pytest.raises(ValueError, match="exists already"):
        encode(FakeEncoder(), tmp_path / "v.npy")
    assert (tmp_path / "v.npy").read_text() == "mine"
    for folder in ("v.npy", "missing"):
        with pytest.raises(ValueError, match=r"the folder of .*w\.npy does not exist"):
            encode(FakeEncoder(), tmp_path / folder / "w.npy")
    assert not (tmp_path / "missing").exists()


def test_any_change_of_the_finished_file_is_found(tmp_path):
    path = tmp_path / "v.npy"
    encode(FakeEncoder(), path)
    content = path.read_bytes()
    header = content.index(b"\n") + 1
    end = len(content) - 2 * ENDING_LENGTH
    for position in {*range(header, end, 5), end + len(MARK), len(content) - 1}:
        path.write_bytes(flipped(position)(content))
        with pytest.raises(ValueError, match=r"v\.npy is not as it was written"):
            map_vectors(path)
    # The form of an earlier version.
    path.write_bytes(content[:-ENDING_LENGTH])
    numpy.testing.assert_array_equal(map_vectors(path), vectors_of(SENTENCES))
    check_sentences(SENTENCES, path)


def test_a_run_that_ended_before_the_file_was_renamed_goes_on(tmp_path, monkeypatch):
    output = tmp_path / "v.npy"
    encode(FakeEncoder(), tmp_path / "whole.npy")
    replace_file = os.replace

    def full_disk(source, target):
        if target == output:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace_file(source, target)

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(ValueError, match="No space"):
        encode(FakeEncoder(), output)
    monkeypatch.undo()
    resumed = FakeEncoder()
    encode(resumed, output)
    assert resumed.encoded == []
    assert output.read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_two_processes_cannot_write_the_same_file(tmp_path):
    """The lock is taken again after each block."""
    attempts = []

    def interfere(encoded):
        if len(encoded) == 21:
            with pytest.raises(ValueError, match="another process is writing"):
                encode(FakeEncoder(), tmp_path / "v.npy")
            attempts.append(encoded)

    encode(FakeEncoder(interfere), tmp_path / "v.npy")
    assert len(attempts) == 1
    assert_encoded(tmp_path / "v.npy")


def flipped(position):
    """Changes a bit."""

    def change(content):
        changed = bytearray(content)
        changed[position] ^= 1
        return bytes(changed)

    return change


def shortened(length):
    return lambda content: (content + b"?")[:length]


@pytest.fixture
def folder(tmp_path):
    """A work folder of a run that was interrupted after four blocks."""
    encode_until(28, tmp_path / "v.npy")
    assert numpy.load(tmp_path / "v.npy.partial" / "vectors.npy")[20].any()
    assert (tmp_path / "v.npy.partial" / "digests").stat().st_size == 4 * 32
    return tmp_path / "v.npy.partial"


@pytest.mark.parametrize(
    ("name", "change", "encoded_again", "log"),
    [
        ("digests", bytes, 0, ""),
        # Only the block of the changed vector is encoded again.
        ("vectors.npy", flipped(128 + 8 * 6), 7, "damaged: rows 0 to 6 "),
        ("vectors.npy", flipped(128 + 8 * 7), 7, "damaged: rows 7 to 13 "),
        *(("vectors.npy", shortened(length), 28, "rows 21 to 27 ") for length in (0, 20, 130)),
        ("vectors.npy", shortened(-2), 0, ""),
        # Bytes outside the vectors are written again.
        *(("vectors.npy", flipped(at), 0, "") for at in (1, 50, 126, -1, -70)),
        ("vectors.npy", None, 28, "rows 21 to 27 "),
        ("digests", flipped(33), 7, "damaged: rows 7 to 13 "),
        *(("digests", shortened(n), 28 - n // 32 * 7, "") for n in (0, 31, 32, 127, 129)),
        ("seen.sqlite", None, 0, ""),
        ("seen.sqlite", lambda content: b"not a database" * 100, 0, ""),
    ],
)
def test_a_damaged_file_of_an_interrupted_run(
    folder, tmp_path, caplog, name, change, encoded_again, log
):
    """The damaged part is encoded again, and all bytes are right."""
    content = (folder / name).read_bytes()
    (folder / name).unlink()
    if change is not None:
        (folder / name).write_bytes(change(content))
    encoder = FakeEncoder()
    encode(encoder, tmp_path / "v.npy")
    encode(FakeEncoder(), tmp_path / "whole.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert len(encoder.encoded) == len(set(SENTENCES)) - 28 + encoded_again
    assert log in caplog.text
    assert bool(log) == bool(caplog.records)


@cases(30, 2000)
def test_any_damage(folder, tmp_path, num_cases):
    """The final bytes are the same, or an error names the remedy."""
    output = tmp_path / "v.npy"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    encode(FakeEncoder(), output)
    expected = output.read_bytes()
    endings = {"whole": 0, "refused": 0}

    def check(case):
        name, content = case
        output.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for other in before:
            (folder / other).write_bytes(before[other])
        replace(folder / name, content)
        try:
            with configuration_errors():
                encode(FakeEncoder(), output)
            endings["whole"] += 1
        except Exception as error:
            check_sentence(error, str(folder), "delete the folder")
            endings["refused"] += 1
            assert not output.exists()
            shutil.rmtree(folder)
            encode(FakeEncoder(), output)
        assert output.read_bytes() == expected
        assert not folder.exists()

    others = st.sampled_from(sorted(before.keys() - {"lock", "settings.json"}))
    names = st.one_of(st.just("settings.json"), others, others, others)
    strategy = names.flatmap(lambda name: st.tuples(st.just(name), damaged(before[name])))
    check_cases(check, strategy, num_cases)
    assert min(endings.values()) > num_cases / 20


def test_a_setting_with_a_long_name_is_shortened(folder, tmp_path):
    settings = json.loads((folder / "settings.json").read_text())
    (folder / "settings.json").write_text(json.dumps({**settings, "[" * 9999: 1}))
    with pytest.raises(ConfigurationError) as raised, configuration_errors():
        encode(FakeEncoder(), tmp_path / "v.npy")
    check_sentence(
        raised.value,
        "another setting of '[[[",
        "delete the folder",
        most_bytes=1000,
    )


def test_a_run_that_died_while_it_wrote_its_settings(tmp_path):
    (tmp_path / "v.npy.partial").mkdir()
    (tmp_path / "v.npy.partial" / "settings.json.partial").write_text("{")
    encode(FakeEncoder(), tmp_path / "v.npy")
    assert_encoded(tmp_path / "v.npy")


def test_an_edit_that_is_taken_back_after_an_interruption(tmp_path):
    """Vectors that were encoded in between are not kept."""
    edited = ["edited", *SENTENCES[1:3], SENTENCES[1], *SENTENCES[4:]]
    encode_until(20, tmp_path / "v.npy", SENTENCES, edited)
    encode(FakeEncoder(), tmp_path / "v.npy")
    assert_encoded(tmp_path / "v.npy")


def test_a_damaged_page_of_the_database(tmp_path):
    """The error names it, and the same call continues."""
    database = tmp_path / "v.npy.partial" / "seen.sqlite"

    def damage(encoded):
        if len(encoded) > 20_000:
            database.write_bytes(b"?" * database.stat().st_size)

    many = [f"{number}" for number in range(90_000)]
    with pytest.raises(ValueError, match=r"seen\.sqlite cannot be .* the same command"):
        encode(
            FakeEncoder(damage),
            tmp_path / "v.npy",
            many,
            block_size=8192,
        )
    second = FakeEncoder()
    encode(second, tmp_path / "v.npy", many, block_size=8192)
    assert len(second.encoded) < 90_000 - 8192
    assert_encoded(tmp_path / "v.npy", many)


def test_a_folder_that_vanishes(tmp_path):
    encoder = FakeEncoder(lambda encoded: shutil.rmtree(tmp_path / "v.npy.partial"))
    with pytest.raises(ValueError, match=r"vectors\.npy cannot be written: No such file"):
        encode(encoder, tmp_path / "v.npy")
    assert not (tmp_path / "v.npy").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk(tmp_path, monkeypatch, number):
    """The work so far is kept, and the same call continues with it."""
    calls = []

    def fsync(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises(ValueError, match=f"vectors.npy cannot .*{os.strerror(number)}"):
        encode(FakeEncoder(), tmp_path / "v.npy")
    assert not (tmp_path / "v.npy").exists()
    encode(FakeEncoder(), tmp_path / "v.npy")
    assert_encoded(tmp_path / "v.npy")


append = partial(encode, append=True)


@pytest.mark.parametrize("number", [0, 1, 7, 30, len(SENTENCES)])
def test_only_the_lines_that_are_new_are_encoded(tmp_path, number):
    output = tmp_path / "v.npy"
    encode(FakeEncoder(), output, SENTENCES[:number])
    encoder = FakeEncoder()
    append(encoder, output, SENTENCES)
    sample = encoder.encoded[: min(number, 32)]  # this row is compared with the vectors
    assert {*sample} <= {*SENTENCES[:number]}
    assert sorted(encoder.encoded[len(sample) :]) == sorted({*SENTENCES} - {*SENTENCES[:number]})
    assert_encoded(output)
    check_sentences(SENTENCES, output)
    map_vectors(output)  # is not damaged
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


def test_a_link_stays(tmp_path):
    output = tmp_path / "v.npy"
    link = tmp_path / "link.npy"
    encode(FakeEncoder(), output, SENTENCES[:20])
    link.symlink_to(output)
    append(FakeEncoder(), link, SENTENCES)
    assert link.is_symlink()
    assert_encoded(output)


def test_a_killed_run_leaves_the_file_as_it_was_and_goes_on(tmp_path):
    output = tmp_path / "v.npy"
    encode(FakeEncoder(), output, SENTENCES[:20])
    before = output.read_bytes()

    def interrupt(encoded):
        if len(encoded) > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        append(FakeEncoder(interrupt), output, SENTENCES)
    assert output.read_bytes() == before
    with pytest.raises(ValueError, match="another setting of 'sentences'"):
        append(FakeEncoder(), output, [*SENTENCES, "new"])
    output.unlink()
    encode(FakeEncoder(), tmp_path / "ten.npy", SENTENCES[:10])
    for other in (b"", (tmp_path / "ten.npy").read_bytes()):
        if other:
            output.write_bytes(other)
        with pytest.raises(ValueError, match="another setting of 'vectors before'"):
            append(FakeEncoder(), output, SENTENCES)
    output.write_bytes(before)
    encoder = FakeEncoder()
    append(encoder, output, SENTENCES)
    assert len(encoder.encoded) == 20 + len({*SENTENCES[27:]} - {*SENTENCES[:27]})
    interrupted = output.read_bytes()
    output.write_bytes(before)
    append(FakeEncoder(), output, SENTENCES)
    assert output.read_bytes() == interrupted


@pytest.mark.parametrize("num_deleted", range(6))
@pytest.mark.parametrize("sentences", [SENTENCES, [*SENTENCES, "new"]])
def test_a_run_that_was_killed_while_its_folder_was_deleted(
    tmp_path, monkeypatch, num_deleted, sentences
):
    """The vectors are already in place; some of the other files are gone."""
    output = tmp_path / "v.npy"
    folder = tmp_path / "v.npy.partial"
    deleted = ["settings.json", "digests", "seen.sqlite", "lock", "-"][:num_deleted]

    def delete_some(path):
        for name in deleted:
            (path / name).unlink(missing_ok=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(unfinished_run.shutil, "rmtree", delete_some)
    with pytest.raises(KeyboardInterrupt):
        encode(FakeEncoder(), output)
    assert folder.exists()
    monkeypatch.undo()
    append(FakeEncoder(), output, sentences)
    assert not folder.exists()
    encode(FakeEncoder(), tmp_path / "expected.npy", sentences)
    assert output.read_bytes() == (tmp_path / "expected.npy").read_bytes()


def test_an_output_that_exists_may_be_appended_to(tmp_path):
    encode(FakeEncoder(), tmp_path / "v.npy", SENTENCES[:20])
    with pytest.raises(ValueError, match=r"v\.npy exists already; .* only these with --append"):
        encode(FakeEncoder(), tmp_path / "v.npy")


class OtherEncoder(FakeEncoder):
    vector_size = 3


@pytest.mark.parametrize(
    ("encoder", "change", "sentences", "message"),
    [
        *(
            (FakeEncoder, bytes, sentences, "made from other sentences")
            for sentences in (
                ["x", *SENTENCES[1:]],
                SENTENCES[:19],
                [*SENTENCES[:19], "", *SENTENCES[19:]],
            )
        ),
        (FakeEncoder, lambda content: content[:-1], SENTENCES, "not as it was|made from other"),
        (FakeEncoder, lambda content: content.partition(MARK)[0], SENTENCES, "was not made by"),
        (OtherEncoder, bytes, SENTENCES, "model of vectors of size 3; delete it to encode all"),
    ],
)
def test_a_file_that_is_not_of_the_first_lines(tmp_path, encoder, change, sentences, message):
    output = tmp_path / "v.npy"
    encode(FakeEncoder(), output, SENTENCES[:20])
    before = change(output.read_bytes())
    output.write_bytes(before)
    with pytest.raises(ValueError, match=message):
        append(encoder(), output, sentences)
    assert output.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["v.npy"]


def test_a_file_of_another_model_is_found_by_a_sample(tmp_path):
    output = tmp_path / "v.npy"
    encode(FakeEncoder(), output, SENTENCES[:20])
    other = FakeEncoder()
    other.encode_blocks = lambda blocks, batch_size: (vectors_of(b)[:, ::-1] for b in blocks)
    with pytest.raises(ValueError, match=r"row 0 .* is not the model's for this sentence"):
        append(other, output, SENTENCES)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (" ", "sentence 9 is blank"),
        (None, "sentence 9 must be a string, not NoneType"),
        ("x" * 10_001, "sentence 9 has 10,001 characters"),
    ],
)
def test_a_bad_sentence_is_named_by_its_row(tmp_path, bad, message):
    sentences = ["a dog sleeps"] * 3 + [f"a dog {i}" for i in range(6)] + [bad, "a"]
    with pytest.raises((TypeError, ValueError), match=message):
        encode(SentenceEncoder(tiny_encoder()), tmp_path / "v.npy", sentences)


def test_blank_sentences_are_for_encoders_of_blocks_to_refuse(tmp_path):
    encoder = FakeEncoder()
    encoder.check = lambda sentence, name: pytest.fail(f"{name} was checked")
    encode(encoder, tmp_path / "v.npy", ["a", "", " "])
    assert_encoded(tmp_path / "v.npy", ["a", "", " "])


def test_warnings_name_the_rows_of_the_corpus(tmp_path):
    sentences = ["a dog sleeps"] * 9 + ["zz " + "a " * 300, "\u732b", "a cat", "\u732b"]
    encoder = tiny_encoder()
    encoder.indexer.max_length = 256
    with (
        pytest.warns(UserWarning, match=r"no word of 2 texts \(sentence 10, sentence 12\)"),
        pytest.warns(UserWarning, match=r"only the first 256 .* of 1 text \(sentence 9\)"),
    ):
        encode(SentenceEncoder(encoder), tmp_path / "v.npy", sentences)


@pytest.mark.parametrize("sentences", [SENTENCES, "corpus.txt", iter(SENTENCES)])
def test_sentences_that_cannot_be_read_twice_are_refused(tmp_path, sentences):
    with pytest.raises(TypeError, match=r"since they are read twice, .*, not (list|str)"):
        encode_corpus(FakeEncoder(), sentences, tmp_path / "v.npy")


def test_the_corpus_is_read_twice(tmp_path):
    """It is read once to count it, and once to encode it, even if vectors exist."""
    readings = []

    def read(number):
        readings.append(number)
        return iter(SENTENCES[:number])

    for number in (20, 20, len(SENTENCES)):
        sizes = {
            "block_size": 8,
            "show_progress_bar": False,
            "append": True,
        }
        encode_corpus(
            FakeEncoder(),
            partial(read, number),
            tmp_path / "v.npy",
            **sizes,
        )
    assert readings == [20, 20, 20, 20, len(SENTENCES), len(SENTENCES)]
