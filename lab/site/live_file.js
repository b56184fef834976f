// The visitor's own file on the page Run it here: the worker opens it, and a table declares its columns' bounds.
let lines = []; // of the table: a column's name and its inputs
const forget = () => {
  lines = [];
  panel.querySelector(".columns").replaceChildren();
  panel.querySelector("input[type=file]").value = "";
};
/** Return the ticked columns with the texts of their bounds. */
const chosen = () => lines.filter(({ use }) => use.checked)
  .map(({ name, low, high, unit }) => ({ name, low: low.value, high: high.value, unit: unit.value.trim() }));
const describe = ({ name: file, columns, notes, rows }) => {
  const heads = ["Use", "Low", "High", "Unit"].map((words) => made("th", { scope: "col", textContent: words }));
  const body = made("tbody");
  lines = columns.map(({ name, low, high, unit, use, why, usable }) => {
    const cell = (value, label, mode) => made("input", { value, ariaLabel: `${label} of ${name}`, inputMode: mode,
      autocomplete: "off", disabled: !usable });
    const tick = made("input", { type: "checkbox", checked: use, disabled: !usable });
    const about = made("small", { textContent: why });
    const line = { name, use: tick, low: cell(low, "Low", "decimal"), high: cell(high, "High", "decimal"),
      unit: cell(unit, "Unit", "text") };
    const ends = [line.low, line.high, line.unit].map((one) => made("td", {}, one));
    body.append(made("tr", {}, made("th", { scope: "row" }, made("label", {}, tick, ` ${name} `), about), ...ends));
    return line;
  });
  panel.querySelector(".columns").replaceChildren(made("table", {}, made("thead", {}, made("tr", {}, ...heads)), body));
  const about = [`${file} is open in this tab: ${rows.toLocaleString("en")} rows.`, ...notes];
  say(`${about.join(" ")} Check the bounds, then press Run.`);
};
/** Hand a file to the worker; only once Python is ready, when no request can leave page or worker any more. */
const open = (file) => {
  if (!worker || form.hidden || find(".go").disabled || !file) return;
  forget();
  asked = null;
  busy(true);
  say("Reading the file …", -1);
  const { numbers: { value: numbers } } = form.elements;
  worker.postMessage({ ask: "opened", form: { name: file.name, size: file.size, numbers, private: false }, file });
};
