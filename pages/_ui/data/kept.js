// Stores declarations of files only in this browser, so that a visitor need not repeat them after a reload.
// `says` requests the sentence, `opens` the button that returns to the last file.
const { read, write } = storage("dpviz-declared", []), MOST = 5;
const written = (window.__dpvizDeclared ??= {}); // upload of this visit -> its entry in the list

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".dpviz-kept"), words = root.querySelector("output");
  const [open, forget] = root.querySelectorAll("button"), before = read();
  if (data.keep) {
    const text = JSON.stringify(data.keep), own = new Set([text, written[data.upload]]);
    write([data.keep, ...before.filter((entry) => !own.has(JSON.stringify(entry)))].slice(0, MOST));
    written[data.upload] = text;
  }
  const show = () => {
    const files = [...new Set(read().map((entry) => String(entry?.file)))];
    const keeps = "The browser stores column names, kinds, bounds and separators, but no cell.";
    const said = `Declared in this browser before: ${files.join(", ")}. ${keeps}`;
    if (words.textContent !== said) words.textContent = said;
    words.hidden = !data.says;
    open.hidden = !data.opens;
    open.textContent = `Open ${files[0]} again`;
    root.hidden = !(data.says || data.opens) || !files.length;
  };
  open.onclick = () => setTriggerValue("open", true);
  forget.onclick = () => { write([]); show(); setStateValue("entries", []); };
  show();
  if (!data.keep && JSON.stringify(before) !== JSON.stringify(data.known)) setStateValue("entries", before);
}
