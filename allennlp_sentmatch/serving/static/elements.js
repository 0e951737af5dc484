/** Elements of the page. What a visitor or a model writes becomes a text, and never HTML. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an element.
 *
 * Attributes whose name begins with "--" are variables of its style; those that are undefined or
 * false are left out. Children are elements or strings.
 */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Create an element of an SVG image. */
export function svgElement(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A table with a caption. */
export function table(caption, headers, rows) {
  const row = (cells) => element("tr", {}, ...cells);
  const head = row(headers.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) => row(cells.map((cell) => element("td", {}, cell))));
  const parts = [element("thead", {}, head), element("tbody", {}, ...body)];
  return element("table", {}, element("caption", {}, caption), ...parts);
}

/** A picture with its title, and a note under it. Wide ones are scrolled, by the keyboard, too. */
export function figure(title, picture, note) {
  const settings = { class: "scrolled", tabindex: 0, role: "group", "aria-label": title };
  const scrolled = element("div", settings, picture);
  const below = element("p", { class: "note" }, note);
  return element("figure", {}, element("figcaption", {}, title), scrolled, below);
}
