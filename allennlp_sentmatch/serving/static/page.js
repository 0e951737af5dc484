/** The page of one model: it asks the server that it came from. */

import { answer } from "./answers.js";
import { element } from "./elements.js";
import { pictures, saliency } from "./pictures.js";

const METHODS = { simple: "Simple gradients", integrated: "Integrated gradients", smooth: "SmoothGrad" };
const LONG_WAIT = 1000; // milliseconds

const find = (selector) => document.querySelector(selector);
const sections = { answer: find("#answer"), saliency: find("#saliency > div"), pictures: find("#pictures") };

/** POST an input; an `Error` has a sentence for the visitor. */
async function ask(path, input, signal) {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(input), signal }).catch((error) => {
    throw signal.aborted ? error : new Error("The server cannot be reached.");
  });
  const content = await response.json().catch(() => ({ detail: `The server answered ${response.status}.` }));
  if (response.ok) return content;
  const sentence = content.detail.replace(/^Input 1: /, "");
  throw new Error(sentence[0].toUpperCase() + sentence.slice(1));
}

/** While an answer takes long, say how many inputs wait for the model. */
function waiting(note, signal) {
  const timer = setInterval(async () => {
    const health = await fetch("health", { signal }).then((response) => response.json(), () => null);
    if (health && !signal.aborted) note.textContent = `Waiting: ${health.waiting} inputs are before the model.`;
  }, LONG_WAIT);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/**
 * Fill a form with a box for each text and a button.
 *
 * `run(input, signal)` answers an input; a new input ends the work on the last one. Meanwhile the
 * answers in `shown` are marked as outdated, and if it fails, they are removed.
 */
function connect(form, inputs, verb, shown, run, ...options) {
  const note = element("p", { class: "note", role: "status" });
  const alert = element("p", { class: "error", role: "alert" });
  const boxes = inputs.map(({ name, lines }) =>
    element("textarea", { id: `${form.id || form.parentElement.id}-${name}`, rows: lines }),
  );
  const labels = inputs.map(({ label }, i) => element("label", { for: boxes[i].id }, label));
  const button = element("button", { type: "submit", class: "primary" }, verb);
  form.append(...labels.flatMap((label, i) => [label, boxes[i]]), ...options, button, note, alert);
  let current = new AbortController();

  function setBusy(isBusy) {
    for (const section of shown) section.setAttribute("aria-busy", isBusy);
  }

  form.addEventListener("keydown", (event) => {
    const box = inputs[boxes.indexOf(event.target)];
    // Enter sends a line, and Shift+Enter several lines.
    if (event.key === "Enter" && box && event.shiftKey === box.lines > 1) {
      event.preventDefault();
      form.requestSubmit();
    }
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    current.abort();
    const own = (current = new AbortController());
    const empty = boxes.find((box) => !box.value.trim());
    for (const box of boxes) box.setAttribute("aria-invalid", box === empty);
    note.textContent = alert.textContent = "";
    try {
      if (empty) {
        empty.focus();
        throw new Error(`Please fill in “${labels[boxes.indexOf(empty)].textContent}”.`);
      }
      setBusy(true);
      waiting(note, own.signal);
      const values = inputs.map(({ name, is_list }, i) => [name, is_list ? lines(boxes[i]) : boxes[i].value.trim()]);
      const unknown = await run(Object.fromEntries(values), own.signal);
      note.textContent = unknown.length ? `Not in the model's vocabulary: ${unknown.join(", ")}` : "";
    } catch (error) {
      if (own.signal.aborted) return; // there is a newer input
      for (const section of shown) section.replaceChildren();
      note.textContent = "";
      alert.textContent = error.message;
    }
    if (own === current) setBusy(false);
    own.abort();
  });
  return boxes;
}

function lines(box) {
  return box.value.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** An answer, or the sentence of an error in its place. */
async function shownIn(section, promise, elements) {
  const content = await promise.then(elements, (error) => [element("p", { class: "error" }, error.message)]);
  section.replaceChildren(...content);
}

function describe(example, inputs) {
  const short = inputs.filter(({ lines }) => lines === 1).map(({ name }) => example[name]);
  const long = inputs.filter(({ lines }) => lines > 1).map(({ name, is_list }) =>
    is_list ? `${example[name].length} answers` : `${example[name].split(" ").slice(0, 4).join(" ")} …`,
  );
  return short.join(" → ") + (long.length ? ` (${long.join(", ")})` : "");
}

function addQuestion(model) {
  let last = null; // the input that was answered last, and what ends the work on it
  const shown = Object.values(sections);

  async function explain(signal) {
    const method = find("input[name=method]:checked");
    if (!method) return;
    find("#saliency").hidden = false;
    await shownIn(sections.saliency, ask(`saliency/${method.value}`, last, signal), (found) => saliency(found.saliency));
  }

  const boxes = connect(find("#question"), model.inputs, model.verb, shown, async (input, signal) => {
    const output = await ask("predict", input, signal);
    sections.answer.replaceChildren(answer(output, model.scale));
    sections.answer.setAttribute("aria-busy", false);
    last = input;
    let unknown = [];
    const inspection = ask("inspect", input, signal);
    await shownIn(sections.pictures, inspection, (found) => {
      unknown = found.unknown_words;
      return pictures(found);
    });
    await explain(signal);
    return unknown;
  });

  let method = new AbortController();
  for (const [i, name] of model.saliency.entries()) {
    const radio = element("input", { type: "radio", name: "method", value: name, checked: i === 0 && "" });
    radio.addEventListener("change", () => {
      method.abort();
      method = new AbortController();
      explain(method.signal);
    });
    find("#saliency fieldset").append(element("label", {}, radio, ` ${METHODS[name]}`));
  }

  find("#examples").hidden = model.examples.length === 0;
  for (const example of model.examples) {
    const button = element("button", { type: "button" }, describe(example, model.inputs));
    button.addEventListener("click", () => {
      model.inputs.forEach(({ name }, i) => (boxes[i].value = [example[name]].flat().join("\n")));
      find("#question").requestSubmit();
    });
    find("#examples").append(button);
  }
}

function addGeneration() {
  const section = find("#generation");
  section.hidden = false;
  const drawn = element("input", { type: "checkbox" });
  const option = element("label", {}, drawn, " Draw the latent vector: other sentences each time");
  const inputs = [{ name: "source", label: "First sentence", lines: 1 }];
  const result = section.querySelector("div");
  const run = async (input, signal) => {
    result.replaceChildren(answer(await ask(drawn.checked ? "generate/drawn" : "generate", input, signal)));
    return [];
  };
  connect(section.querySelector("form"), inputs, "Write", [result], run, option);
}

function addSearch(model) {
  const section = find("#search");
  section.hidden = false;
  const remark = "A classifier learns vectors for its labels: their cosines are not similarities.";
  const note = `Searches ${model.searched.toLocaleString("en")} sentences by the cosine of their vectors.`;
  section.querySelector(".note").textContent = model.is_classifier ? `${note} ${remark}` : note;
  const result = section.querySelector("div");
  const run = async (input, signal) => {
    const found = await ask("search", input, signal);
    result.replaceChildren(answer(found));
    return found.unknown_words;
  };
  const inputs = [{ name: "sentence", label: "Sentence", lines: 1 }];
  connect(section.querySelector("form"), inputs, "Search", [result], run);
}

const model = await (await fetch("model")).json();
document.title = `${model.title} · allennlp_sentmatch`;
find("h1").textContent = model.title;
find("#description").textContent = model.description;
addQuestion(model);
if (model.generates) addGeneration();
if (model.searched) addSearch(model);
