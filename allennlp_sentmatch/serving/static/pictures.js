/** Pictures of what a model did with its texts: trees, attention, gates, and words by weight. */

import { element, figure, svgElement } from "./elements.js";

/** Larger matrices are not drawn: a browser would need seconds. */
const MOST_CELLS = 20000;
/** With more columns, cells show only their color. */
const MOST_COLUMNS_WITH_NUMBERS = 10;

const FONT = "14px system-ui, sans-serif"; // as in the style sheet
const LINE = 24;
const GAP = 14;

/** The title of a histogram, and the note under it. */
const GATES = {
  gate: [
    "Vertical forget gate",
    "Where the gate is near 1, the layer keeps the cell of the layer below; near 0, it forgets it.",
  ],
  range: [
    "Range of the gate within a token",
    "Near 0, all dimensions of a token have the same gate; near 1, it keeps some and forgets others.",
  ],
  difference: [
    "Distance of the gate from the lower output gate",
    "Near 0, the gate repeats the output gate of the layer below; near 1, it has learned its own.",
  ],
};

const OF_TREES = "Words that meet lower in the tree were joined first.";
const OF_MARKS = "The mark is the answer; the stronger a word's color, the higher its weight.";
const OF_ROWS = "The stronger a cell's color, the more its row's word attends to its column's word.";
const OF_WORDS = "The stronger a word's color, the more attention it gets.";
const OF_SALIENCY =
  "The stronger a word's color, the more a change of its embedding changes the prediction.";

/** The figures for an answer of `/inspect`. */
export function pictures({ trees, attention, marked_texts, gates }) {
  return [
    ...trees.map(({ title, tree }) => figure(title, drawnTree(title, tree), OF_TREES)),
    ...marked_texts.map((marked) => figure(marked.title, markedText(marked), OF_MARKS)),
    ...attention.map((map) => figure(map.title, heatMap(map), noteOf(map))),
    ...gates.filter(({ quantity }) => quantity in GATES).map(histogram),
  ];
}

function noteOf({ rows }) {
  return rows.length === 1 && rows[0] === "" ? OF_WORDS : OF_ROWS;
}

/** The words of each text, each on a color for its share in the answer. */
export function saliency(texts) {
  const paragraphs = texts.map(({ text, tokens, values }) => {
    const strongest = Math.max(...values);
    const words = tokens.flatMap((token, i) => [" ", weighted(token, values[i], strongest)]);
    return element("p", { class: "words" }, element("b", {}, `${text}:`), ...words);
  });
  return [...paragraphs, element("p", { class: "note" }, OF_SALIENCY)];
}

function weighted(text, weight, strongest) {
  const share = strongest > 0 ? weight / strongest : 0;
  return element("span", { class: "word", "--share": share, title: weight.toFixed(3) }, text);
}

/** A text as it was written, its tokens weighted, and one part marked. */
function markedText({ text, offsets, weights, span }) {
  const characters = Array.from(text); // the offsets count characters, not units of UTF-16
  const part = (start, end) => characters.slice(start, end).join("");
  const strongest = Math.max(...weights);
  const shown = element("p", { class: "words" });
  const mark = element("mark");
  let previous = 0;
  offsets.forEach(([start, end], i) => {
    const isMarked = span[0] <= i && i <= span[1];
    const before = part(previous, start);
    if (isMarked && i > span[0]) mark.append(before);
    else shown.append(before);
    if (i === span[0]) shown.append(mark);
    (isMarked ? mark : shown).append(weighted(part(start, end), weights[i], strongest));
    previous = end;
  });
  shown.append(part(previous));
  return shown;
}

/** A matrix: a row for each word that attends, a column for each word that is attended to. */
function heatMap({ weights, rows, columns }) {
  if (rows.length * columns.length > MOST_CELLS) {
    return element("p", {}, `${rows.length} x ${columns.length} words are too many to be drawn.`);
  }
  const isNarrow = columns.length <= MOST_COLUMNS_WITH_NUMBERS;
  const strongest = Math.max(...weights.flat());
  const head = columns.map((word) => element("th", { scope: "col" }, element("span", {}, word)));
  const body = weights.map((row, i) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", title: rows[i] }, rows[i]),
      ...row.map((weight, j) => {
        const title = `${rows[i]} → ${columns[j]}: ${weight.toFixed(3)}`;
        const share = strongest > 0 ? weight / strongest : 0;
        return element("td", { "--share": share, title }, weight.toFixed(2));
      }),
    ),
  );
  return element(
    "table",
    { class: isNarrow ? "heat numbers" : "heat" },
    element("thead", {}, element("tr", {}, element("td"), ...head)),
    element("tbody", {}, ...body),
  );
}

/** The distribution of one quantity of the gates in one layer, over [0, 1]. */
function histogram({ layer, quantity, counts, mean, standard_deviation }) {
  const [name, note] = GATES[quantity];
  const title = `${name}, layer ${layer}`;
  const figures = `mean ${mean.toFixed(2)}, standard deviation ${standard_deviation.toFixed(2)}`;
  const settings = { viewBox: "0 0 100 51", class: "histogram", role: "img" };
  const image = svgElement("svg", { ...settings, "aria-label": `${title}: ${figures}` });
  counts.forEach((count, i) => {
    const height = (50 * count) / Math.max(...counts, 1);
    image.append(svgElement("rect", { x: 2 * i, y: 50 - height, width: 1.8, height }));
  });
  image.append(svgElement("path", { d: "M0 50.5H100" }));
  const axis = ["0", figures, "1"].map((text) => element("span", {}, text));
  const picture = element("div", {}, image, element("p", { class: "axis" }, ...axis));
  return figure(title, picture, note);
}

/** A tree of nested parentheses such as "((the cat) (sat down))". */
function drawnTree(title, brackets) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = FONT;
  const lines = [];
  const words = [];
  let right = 0;
  const open = [[]];
  for (const part of brackets.match(/[()]|[^ ()]+/g) ?? []) {
    if (part === "(") {
      open.push([]);
    } else if (part === ")" && open.length > 1) {
      const children = open.pop();
      open.at(-1).push(joined(children, lines));
    } else if (part !== ")") {
      const width = context.measureText(part).width + GAP;
      const leaf = { x: right + width / 2, height: 0 };
      right += width;
      words.push({ x: leaf.x, text: part });
      open.at(-1).push(leaf);
    }
  }
  const height = Math.max(...open[0].map((node) => node.height), 0);
  const y = (node) => LINE * (height - node.height) + 6;
  const size = { width: right, height: LINE * (height + 1) + 6 };
  const label = { role: "img", "aria-label": `${title}: ${brackets}` };
  const image = svgElement("svg", { ...size, ...label, class: "tree" });
  for (const [parent, child] of lines) {
    image.append(svgElement("path", { d: `M${parent.x} ${y(parent)}L${child.x} ${y(child)}` }));
  }
  for (const { x, text } of words) {
    image.append(svgElement("text", { x, y: LINE * height + 20 }, text));
  }
  return image;
}

/** The node above some others; the lines to them are added to `lines`. */
function joined(children, lines) {
  if (children.length === 1) return children[0];
  const node = {
    x: (children[0].x + children.at(-1).x) / 2,
    height: 1 + Math.max(...children.map((child) => child.height)),
  };
  lines.push(...children.map((child) => [node, child]));
  return node;
}
