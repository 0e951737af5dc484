"""Labeled sentences, questions and reviews."""

from collections.abc import Iterator
from itertools import repeat
from typing import Any, Optional

from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.instance import Instance

from allennlp_sentmatch.data.dataset_readers.formats import SENTENCES
from allennlp_sentmatch.data.dataset_readers.formatted_reader import FormattedReader
from allennlp_sentmatch.data.instances import sentence_instance
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.row import Column, Row, Source
from allennlp_sentmatch.nn.checks import check_choice


@DatasetReader.register("single_sentence")
class SingleSentenceReader(FormattedReader):
    """Reads texts with a label: questions, opinions, reviews.

    The formats are

    - `trec`: TREC's question types, a line `COARSE:fine question` (latin-1).
    - `label_first`: a label, a tab and the text, the format of the 16 domains of FDU-MTL.
    - `two_files`: a sentence on each line and a file for each label, the format of MR, CR, SUBJ and
      MPQA (windows-1252, which includes ASCII). The path is a folder that has the two files and no
      other, and the labels are the files' suffixes (`rt-polarity.neg`: `neg`); or it is an object
      from labels to any number of files: `{"neg": "a.txt", "pos": "b.txt"}`.
    - `directories`: a text in each file and a folder for each label, the format of IMDb. The path
      is the folder of these folders; IMDb's `unsup`, which has no labels, is left out.
    - `table`: any tsv, csv or JSON lines; see the parameters.

    Blank lines are skipped. If only a part of the data is read, it is the same part of each label's
    file or folder: for cross-validation (MR, CR, SUBJ, MPQA) or a validation set (TREC, IMDb).

    Fields: `tokens` (`TextField`), `label` (`LabelField`) if there is one, and `metadata` with
    `text`, `tokens` (a list of strings), and `id` if there is one (`directories`: the path).

    # Parameters

    format : `str`
        One of the names above.
    granularity : `str`, optional (default = `"coarse"`)
        `trec`: `"coarse"` for the 6 labels before the colon, `"fine"` for the 50 whole ones, such
        as `NUM:date`.
    text : `Union[int, str]`, optional (default = `"text"`)
        `table`: the column with the text.
    label : `Union[int, str]`, optional (default = `"label"`)
        `table`: the column with the label; `null` for a file without labels.
    id : `Union[int, str]`, optional (default = `None`)
        `table`: the column with the text's id, if there is one.
    delimiter, quoted, encoding, max_length, tokenizer, token_indexers : as in `FormattedReader`
        "whitespace" keeps the tokens of TREC, MR, CR, SUBJ and MPQA.
    """

    FORMATS = SENTENCES

    @inherits_settings(FormattedReader)
    def __init__(
        self,
        format: str,
        granularity: str = "coarse",
        text: Column = "text",
        label: Optional[Column] = "label",
        id: Optional[Column] = None,
        **settings: Any,
    ) -> None:
        super().__init__(format, **settings)
        check_choice("coarse", "fine", granularity=granularity)
        self._check_use("trec", {"granularity": granularity})
        self._choose_format({"text": text, "label": label, "id": id})
        if format == "trec":
            self._columns["label"] = (granularity,)

    def _read(self, file_path: Any) -> Iterator[Instance]:
        columns = self._columns
        for row, label in self._shared(file_path):
            id = row.joined(columns["id"])
            yield self.text_to_instance(row.text(columns["text"]), label, id, row.source)

    def _parts(self, path: Any) -> Iterator[Iterator[tuple[Row, Optional[str]]]]:
        for label, part in self._format.parts(path).items():
            if label is None:
                yield self._rows(part, self._label)
            else:
                yield zip(self._format.rows(part, encoding=self._encoding), repeat(label))

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the text."""
        return (example[0].text(self._columns["text"]),)

    def text_to_instance(
        self,
        text: str,
        label: Optional[str] = None,
        id: Optional[str] = None,
        source: Optional[Source] = None,
    ) -> Instance:
        """Make the instance of one text, with the fields listed above.

        The `id` comes from the data set; `source` is the text's file and line, for errors.
        """
        return sentence_instance(text, self._text_field(text, "text"), label, source, id)
