/** The answers of models, as elements. */

import { element, table } from "./elements.js";

const MOST_TEXTS = 5; // of translations, and of sentences for a label
const LONGEST_JSON = 5000;

/** What an answer shows, by the key that tells its kind from the others. */
const KINDS = { probs_by_label, score, ranking, vector, sentences, neighbors };

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

function probs_by_label({ label, probs_by_label }) {
  const sorted = Object.entries(probs_by_label).sort(([, first], [, second]) => second - first);
  const rows = sorted.map(([name, probability]) => {
    const bar = { class: "bar", "--share": probability };
    const cell = element("td", bar, `${(100 * probability).toFixed(1)} %`);
    return element("tr", {}, element("th", { scope: "row" }, name), cell);
  });
  const caption = element("caption", {}, "Probability of each label");
  const bars = element("table", {}, caption, element("tbody", {}, ...rows));
  return element("div", {}, element("p", { class: "result" }, label ?? "undecided"), bars);
}

function score({ score }, [lowest, highest]) {
  const share = Math.min(1, Math.max(0, (score - lowest) / (highest - lowest)));
  const scale = `on the scale from ${lowest} to ${highest}`;
  const result = element("p", { class: "result" }, score.toFixed(2));
  return element("div", {}, result, element("p", { class: "bar", "--share": share }, scale));
}

function vector({ vector }) {
  const first = vector.slice(0, 4).map((number) => number.toFixed(3));
  const row = [vector.length, Math.hypot(...vector).toFixed(3), `${first.join(", ")}, …`];
  return table("Vector", ["Dimensions", "Length", "First numbers"], [row]);
}

function ranking({ ranking }) {
  const rows = ranking.map(({ score, candidate }) => [score.toFixed(3), candidate]);
  return table("Answers, the best first", ["Score", "Answer"], rows);
}

function sentences({ sentences }) {
  const rows = Object.entries(sentences).flatMap(([label, beams]) =>
    firsts(beams.map(({ sentence }) => [label, sentence])).slice(0, MOST_TEXTS),
  );
  return table("Sentences for each label, the best first", ["Label", "Sentence"], rows);
}

function neighbors({ neighbors }) {
  const rows = neighbors.map(({ cosine, sentence }) => [cosine.toFixed(3), sentence]);
  return table("Nearest sentences", ["Cosine", "Sentence"], rows);
}

function translations({ n_best }) {
  const rows = firsts(n_best.map(({ score, target }) => [score.toFixed(2), target]));
  const headers = ["Score", "Translation"];
  return table("Translations, the best first", headers, rows.slice(0, MOST_TEXTS));
}

function extracts({ n_best }) {
  const rows = firsts(n_best.map(({ probability, answer }) => [probability.toFixed(3), answer]));
  return table("Answers, the most probable first", ["Probability", "Answer"], rows);
}

/** The first row with each text: several lists of tokens, or spans, may be the same text. */
function firsts(rows) {
  return rows.filter(([, text], i) => rows.findIndex(([, other]) => other === text) === i);
}
