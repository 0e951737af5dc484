/** The page of one model: it asks the server that it came from. */

import { answer } from "./answers.js";
import { element } from "./elements.js";
import { ask, fillForm } from "./form.js";
import { pictures, saliency } from "./pictures.js";

const METHODS = {
  simple: "Simple gradients",
  integrated: "Integrated gradients",
  smooth: "SmoothGrad",
};

const find = (selector) => document.querySelector(selector);

/** Show the elements that are made of an answer, or the sentence of an error in their place. */
async function show(section, path, input, signal, elements) {
  try {
    section.replaceChildren(...elements(await ask(path, input, signal)));
  } catch (error) {
    const sentence = element("p", { class: "error" }, error.message);
    if (!signal.aborted) section.replaceChildren(sentence);
  }
}

/** The question to the model: its texts, answer, pictures and saliency, and the examples. */
function addQuestion(model) {
  const shown = ["#answer", "#pictures", "#saliency > div"].map(find);
  const [answered, drawn, explained] = shown;
  let last = null; // the input that was answered last
  let explaining = new AbortController();

  async function explain(signal) {
    explaining.abort();
    explaining = new AbortController();
    const path = `saliency/${find("input[name=method]:checked").value}`;
    const either = AbortSignal.any([signal, explaining.signal]);
    await show(explained, path, last, either, (found) => saliency(found.saliency));
  }

  async function run(input, signal) {
    explaining.abort(); // of the last input
    const output = await ask("predict", input, signal);
    answered.replaceChildren(answer(output, model.scale));
    answered.setAttribute("aria-busy", false);
    last = input;
    let unknown = [];
    await show(drawn, "inspect", input, signal, (found) => {
      unknown = found.unknown_words;
      return pictures(found);
    });
    if (model.saliency.length) await explain(signal);
    return unknown;
  }

  const form = find("#question form");
  const boxes = fillForm(form, model.inputs, model.verb, shown, run);
  model.saliency.forEach((name, i) => {
    const settings = { type: "radio", name: "method", value: name, checked: i === 0 && "" };
    const radio = element("input", settings);
    radio.addEventListener("change", () => explain(new AbortController().signal));
    find("#saliency fieldset").append(element("label", {}, radio, ` ${METHODS[name]}`));
  });
  find("#examples").hidden = model.examples.length === 0;
  for (const example of model.examples) {
    const button = element("button", { type: "button" }, describe(example, model.inputs));
    button.addEventListener("click", () => {
      model.inputs.forEach(({ name }, i) => (boxes[i].value = [example[name]].flat().join("\n")));
      form.requestSubmit();
    });
    find("#examples").append(button);
  }
}

/** A line about an example: its short texts, and what begins its long ones. */
function describe(example, inputs) {
  const short = inputs.filter(({ lines }) => lines === 1).map(({ name }) => example[name]);
  const long = inputs.filter(({ lines }) => lines > 1).map(({ name, is_list }) => {
    const first = is_list ? "" : example[name].split(" ").slice(0, 4).join(" ");
    return is_list ? ` (${example[name].length} answers)` : ` (${first} …)`;
  });
  return short.join(" → ") + long.join("");
}

/** A section with one text, beside the question to the model. */
function addSection(id, label, verb, run, ...options) {
  const section = find(id);
  const result = section.querySelector("div");
  section.hidden = false;
  const inputs = [{ name: id === "#search" ? "sentence" : "source", label, lines: 1 }];
  const shown = async (input, signal) => {
    const output = await run(input, signal);
    result.replaceChildren(answer(output));
    return output.unknown_words ?? [];
  };
  fillForm(section.querySelector("form"), inputs, verb, [result], shown, ...options);
}

const model = await (await fetch("model")).json();
document.title = `${model.title}: ${model.name} · allennlp_sentmatch`;
find("h1").textContent = `${model.title}: ${model.name}`;
find("#description").textContent = model.description;
addQuestion(model);

if (model.generates) {
  const drawn = element("input", { type: "checkbox" });
  const option = element("label", {}, drawn, " Draw the latent vector: other sentences each time");
  const generate = (input, signal) =>
    ask(drawn.checked ? "generate/drawn" : "generate", input, signal);
  addSection("#generation", "First sentence", "Write", generate, option);
}

if (model.search) {
  find("#search .note").textContent = model.search;
  addSection("#search", "Sentence", "Search", (input, signal) => ask("search", input, signal));
}
