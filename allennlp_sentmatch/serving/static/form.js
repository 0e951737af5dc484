/** Forms whose texts go to the server, and the answers that come back. */

import { element } from "./elements.js";

const LONG_WAIT = 1000; // milliseconds

/** POST an input; an `Error` has a sentence for the visitor. */
export async function ask(path, input, signal) {
  const request = { method: "POST", body: JSON.stringify(input), signal };
  const response = await fetch(path, request).catch((error) => {
    throw signal.aborted ? error : new Error("The server cannot be reached.");
  });
  const content = await response.json().catch(() => null);
  if (response.ok && content) return content;
  const broken = `The server answered ${response.status}, and not all of it came.`;
  const detail = content?.detail ?? broken;
  const sentence = detail.replace(/^Input 1: /, "");
  throw new Error(sentence[0].toUpperCase() + sentence.slice(1));
}

/**
 * Fill a form with a box for each text and a button.
 *
 * `run(input, signal)` answers an input and gives the words that the model does not know; a new
 * input ends the work on the last one. Meanwhile the answers in `shown` are marked as outdated, and
 * they are removed if it fails. Returns the boxes.
 */
export function fillForm(form, inputs, verb, shown, run, ...options) {
  const note = element("p", { class: "note", role: "status" });
  const alert = element("p", { class: "error", role: "alert" });
  const id = (name) => `${form.parentElement.id}-${name}`;
  const boxes = inputs.map(({ name, lines }) => element("textarea", { id: id(name), rows: lines }));
  const texts = inputs.flatMap(({ name, label }, i) => [
    element("label", { for: id(name) }, label),
    boxes[i],
  ]);
  const button = element("button", { type: "submit", class: "primary" }, verb);
  form.append(...texts, ...options, button, note, alert);
  let current = new AbortController();

  function setBusy(isBusy) {
    for (const section of shown) section.setAttribute("aria-busy", isBusy);
  }

  form.addEventListener("keydown", (event) => {
    const input = inputs[boxes.indexOf(event.target)];
    // Enter sends a single line, and Shift+Enter several.
    if (event.key === "Enter" && input && event.shiftKey === input.lines > 1) {
      event.preventDefault();
      form.requestSubmit();
    }
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    current.abort();
    const own = new AbortController();
    current = own;
    note.textContent = alert.textContent = "";
    const empty = boxes.findIndex((box) => !box.value.trim());
    boxes.forEach((box, i) => box.setAttribute("aria-invalid", i === empty));
    try {
      if (empty >= 0) {
        boxes[empty].focus();
        throw new Error(`Please fill in “${inputs[empty].label}”.`);
      }
      setBusy(true);
      tellWaiting(note, own.signal);
      const unknown = await run(inputOf(inputs, boxes), own.signal);
      if (own !== current) return;
      const words = unknown.join(", ");
      note.textContent = words && `Not in the model's vocabulary: ${words}`;
    } catch (error) {
      if (own !== current) return;
      for (const section of shown) section.replaceChildren();
      note.textContent = "";
      alert.textContent = error.message;
    }
    setBusy(false);
    own.abort();
  });
  return boxes;
}

function inputOf(inputs, boxes) {
  const values = inputs.map(({ name, is_list }, i) => {
    const lines = boxes[i].value.split("\n").map((line) => line.trim());
    return [name, is_list ? lines.filter(Boolean) : boxes[i].value.trim()];
  });
  return Object.fromEntries(values);
}

/** While an answer takes long, say how many inputs wait for the model. */
function tellWaiting(note, signal) {
  const timer = setInterval(async () => {
    const response = await fetch("health", { signal }).catch(() => null);
    const { waiting } = (await response?.json().catch(() => null)) ?? {};
    if (waiting !== undefined && !signal.aborted) {
      note.textContent = `Inputs that wait for the model: ${waiting}`;
    }
  }, LONG_WAIT);
  signal.addEventListener("abort", () => clearInterval(timer));
}
