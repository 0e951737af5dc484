/** The answers of models, as elements. */

import { element, table } from "./elements.js";

const MOST_TRANSLATIONS = 5;
const SENTENCES_PER_LABEL = 5;
const LONGEST_JSON = 5000;

/** What an answer shows, by the key that tells its kind from others. */
const KINDS = {
  probs_by_label: labels,
  score: score,
  ranking: ranking,
  vector: vector,
  sentences: generated,
  neighbors: neighbors,
};

/**
 * The elements for the answer of a model.
 *
 * `scale` has the lowest and the highest score of a model that scores pairs.
 */
export function answer(output, scale = []) {
  if ("n_best" in output) return "target" in output ? translations(output) : extracts(output);
  const kind = Object.keys(KINDS).find((key) => key in output);
  if (kind) return KINDS[kind](output, scale);
  const { metadata, ...rest } = output; // of a predictor of another package
  return element("pre", {}, JSON.stringify(rest, null, 1).slice(0, LONGEST_JSON));
}

function labels({ label, probs_by_label }) {
  const rows = Object.entries(probs_by_label).sort(([, first], [, second]) => second - first);
  const shown = rows.map(([name, probability]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", { class: "bar", "--share": probability }, `${(100 * probability).toFixed(1)} %`),
    ),
  );
  const body = element("tbody", {}, ...shown);
  const bars = element("table", { class: "bars" }, element("caption", {}, "Probability of each label"), body);
  return element("div", {}, element("p", { class: "result" }, label ?? "undecided"), bars);
}

function score({ score }, [lowest, highest]) {
  const result = element("p", { class: "result" }, score.toFixed(2));
  if (lowest === undefined) return result;
  const share = Math.min(1, Math.max(0, (score - lowest) / (highest - lowest)));
  const bar = element("p", { class: "bar", "--share": share }, `on the scale from ${lowest} to ${highest}`);
  return element("div", {}, result, bar);
}

function ranking({ ranking }) {
  const rows = ranking.map(({ score, candidate }) => [score.toFixed(3), candidate]);
  return table("Answers, the best first", ["Score", "Answer"], rows);
}

function vector({ vector }) {
  const length = Math.hypot(...vector).toFixed(3);
  const first = vector.slice(0, 4).map((number) => number.toFixed(3));
  const row = [String(vector.length), length, `${first.join(", ")}, …`];
  return table("Vector", ["Dimensions", "Length", "First numbers"], [row]);
}

function generated({ sentences }) {
  const rows = Object.entries(sentences).flatMap(([label, beams]) =>
    firsts(beams.map(({ sentence }) => [label, sentence])).slice(0, SENTENCES_PER_LABEL),
  );
  return table("Sentences for each label, the best first", ["Label", "Sentence"], rows);
}

function neighbors({ neighbors }) {
  const rows = neighbors.map(({ cosine, sentence }) => [cosine.toFixed(3), sentence]);
  return table("Nearest sentences", ["Cosine", "Sentence"], rows);
}

function translations({ n_best }) {
  const rows = firsts(n_best.map(({ score, target }) => [score.toFixed(2), target]));
  return table("Translations, the best first", ["Score", "Translation"], rows.slice(0, MOST_TRANSLATIONS));
}

function extracts({ n_best }) {
  const rows = firsts(n_best.map(({ probability, answer }) => [probability.toFixed(3), answer]));
  return table("Answers, the most probable first", ["Probability", "Answer"], rows);
}

/** The first row with each text: several lists of tokens, or spans, may be the same text. */
function firsts(rows) {
  return rows.filter(([, text], i) => rows.findIndex(([, other]) => other === text) === i);
}
