// The visitor's own file on the page Run it here: the worker opens it, and a table declares its columns' bounds.
let lines = [], waiting = null; // of the table: a column's name and its inputs; the file that is being opened
const part = (name) => panel.querySelector(name);
const forget = () => {
  lines = [];
  part(".columns").replaceChildren();
  part("input[type=file]").value = "";
  part(".people").hidden = rehearsal.hidden = paid.hidden = true;
  withdraw();
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
  part(".columns").replaceChildren(made("table", {}, made("thead", {}, made("tr", {}, ...heads)), body));
  part(".people").hidden = !isPrivate();
  busy(false);
  say(isPrivate()
    ? `Only the first line of ${file} was read. Declare the bounds without looking at the rows; values beyond a `
      + "bound are moved to it, and a cell that is no such number counts as missing, both without a message."
    : `${[`${file} is open in this tab: ${rows.toLocaleString("en")} rows.`, ...notes].join(" ")} Check the bounds, `
      + "then press Run.");
};
/** Hand a file to the worker; only once Python is ready, when no request can leave page or worker any more. */
const hand = (file) => {
  const kind = form.elements.kind.value, busyNow = find(".go").disabled && !find(".stop").hidden;
  if (!worker || form.hidden || busyNow || !file || !kind || (isPrivate() && !key)) return;
  const { numbers: { value: numbers }, names: { checked: names } } = form.elements;
  forget();
  asked = null;
  busy(true);
  say("Reading the file …", -1);
  const about = { name: file.name, size: file.size, numbers, names, private: kind === "private" };
  // a public file is not read unless this browser knows that it is not private; one that is too large is never read
  waiting = about;
  const known = about.private || !key || file.size > live.most;
  worker.postMessage(known ? { ask: "opened", form: about, file } : { ask: "named", key, file });
};
const admit = async ({ digest: found }) => {
  const entry = await declare(found, false).catch(() => null); // where nothing is kept, nothing private was counted
  if (!entry?.secret) return worker?.postMessage({ ask: "opened", form: waiting });
  forget();
  return fail("You already declared this file private in this browser; that is final.");
};
/** Take the declaration that rows are public or private, before any file. */
const choose = async () => {
  forget();
  part(".opening").hidden = true;
  const words = await uncounted();
  if (words && isPrivate()) {
    form.elements.kind.value = "";
    for (const one of panel.querySelectorAll("[name=kind]")) one.checked = false;
    say(words);
  }
  part(".opening").hidden = !form.elements.kind.value;
  part(".alone").hidden = part(".sure").hidden = !isPrivate();
  form.elements.numbers.options[0].textContent = isPrivate() ? "1,234.5 or 1234.5" : "as detected";
  draw();
};
