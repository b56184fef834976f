// The page Run it here: a form made from the methods' declarations, one worker with Python, and the newest run's film.
const live = JSON.parse(document.getElementById("live").textContent);
const find = (name) => document.querySelector(`.live ${name}`), form = find("form");
const [out, bar, found] = [find(".status output"), find("progress"), find(".found")];
const [own, more, blobs, panel] = [find(".own"), find(".more"), find(".blobs"), find(".file")];
const typed = {}; // what a visitor has typed, by field, kept over a change of the method
let worker = null, kept = null, offline = "", close = () => {}, asked = null;
let closed = null; // once this promise is kept, this page can ask no host any more
let began = 0; // when Python was asked for, in milliseconds

const made = (kind, about, ...inside) => {
  const element = Object.assign(document.createElement(kind), about);
  element.append(...inside);
  return element;
};
const field = ({ name, label, help, start, choices, optional, whole }, group) => {
  const about = { name: `${group}.${name}`, title: help };
  const box = choices.length
    ? made("select", about, ...(optional && !choices.includes("") ? [new Option("auto", "")] : []),
        ...choices.map((one) => new Option({ True: "yes", False: "no" }[one] ?? one, one)))
    : made("input", { ...about, inputMode: whole ? "numeric" : "decimal", autocomplete: "off",
        placeholder: optional ? "auto" : "" });
  box.value = typed[about.name] ?? start;
  return made("label", {}, label, box);
};
const data = () => live.data[form.elements.data.value];
const draw = () => {
  const { options } = form.elements.method;
  for (const one of options) one.hidden = one.disabled = isPrivate() && !live.methods[one.value].private;
  if (options[options.selectedIndex].disabled) form.elements.method.value = "pe-means";
  const { fields } = live.methods[form.elements.method.value];
  const shown = fields.map((one) => (one.name === "n_clusters" ? { ...one, start: String(data().k) } : one));
  own.replaceChildren(...shown.filter((one) => !one.more).map((one) => field(one, "values")));
  more.replaceChildren(...shown.filter((one) => one.more).map((one) => field(one, "values")));
  more.parentElement.hidden = !more.children.length;
  blobs.hidden = form.elements.data.value !== live.made;
  panel.hidden = form.elements.data.value !== live.own;
  find(".painting").hidden = form.elements.data.value !== live.painted;
  find(".seeds").hidden = find(".again").hidden = isPrivate();
  find(".other").hidden = isPrivate();
  find(".rehearse").hidden = form.elements.data.value !== live.own;
  find(".go").textContent = isPrivate() ? "Show the price" : "Run";
};
const texts = (group) => Object.fromEntries([...new FormData(form)]
  .filter(([name]) => name.startsWith(`${group}.`)).map(([name, text]) => [name.slice(group.length + 1), text]));
const say = (words, share = null) => {
  out.textContent = words;
  bar.hidden = share === null;
  if (share >= 0) bar.value = share;
  else bar.removeAttribute("value");
};
const busy = (now) => {
  for (const one of document.querySelectorAll(".go, .again, .rehearse, .plot, .paid button, .any input"))
    one.disabled = now || (one.matches(".again") && !asked);
  find(".stop").hidden = !now;
  if (!now) rehearsing = plan = null;
};
/** End the worker, so that Python must be started again, from the files that the page has kept. */
const end = (words) => {
  worker?.terminate();
  worker = null;
  drawn.length = 0;
  forget();
  form.hidden = true;
  find(".load").parentElement.hidden = false;
  say(finish ? `${words} The run that was counted stays counted in full.` : words);
  finish?.({ ended: true });
};
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
const total = Object.values(live.files).reduce((all, [, size]) => all + size, 0);
const COUNTING = {
  again: (now, all) => `Run ${now} of ${all}`,
  rehearsed: (now, all) => `Rehearsed ${now} of ${all} runs`,
};
const take = ({ doing, ready, made: done, planned, found: answer, ask, failed }) => {
  if (doing) say(`${doing} …`, -1);
  if (ready) {
    form.hidden = false;
    busy(false);
    say(`Python is ready after ${((performance.now() - began) / 1000).toFixed(0)} s; this page can ask no server any `
      + `more. ${offline} The first run takes longer, because the packages are imported while you choose.`);
  }
  if (planned && ask !== "plotted" && (ask !== "rehearsed" || rehearsing.on)) say(COUNTING[ask]?.(done, planned)
    ?? `${done} of ${planned} releases`, done / planned);
  if (failed) end(failed);
  if (answer && ask === "plotted") plotted(answer);
  else if (answer && finish && ask === "drawn") finish(answer);
  else if (answer && !answer.refused && ANSWERS[ask]) ANSWERS[ask](answer);
  else if (answer) {
    busy(false);
    if (answer.refused) say(answer.refused);
    else if (answer.again) say(answer.again);
    else show(answer);
  }
};
/** Return links to files made of some texts, in a paragraph, and a function that drops these files. */
const offered = (...files) => {
  const links = files.filter(([, text]) => text).map(([download, text, textContent]) =>
    made("a", { href: URL.createObjectURL(new Blob([text])), download, textContent }));
  const drop = () => links.forEach(({ href }) => URL.revokeObjectURL(href));
  return [made("p", { className: "files" }, ...links), drop];
};
const show = (answer) => {
  const { film, released, secret, seconds, trace, title, csv, page } = answer;
  close();
  say(`Ran in ${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0)} s.`);
  const verdict = made("p", { className: "verdict", textContent: `Released: ${released}` });
  const why = asked.data === live.own ? "you said that these rows are public" : "everybody is public or made up";
  const lead = made("b", { textContent: `Not released; seen here because ${why}: ` });
  const truth = made("p", {}, lead, secret);
  const player = made("div", { innerHTML: film }); // written by dpviz, which escapes all text
  const [links, drop] = offered(["run.json", trace, "Save this run (JSON)"], ["clusters.csv", csv, "Clusters as CSV"],
    ["clusters.html", page, "Clusters on one page"]);
  found.replaceChildren(verdict, truth, ...carded(answer), player, links);
  close = ((stop) => () => { stop(); drop(); })(replayed(player));
  document.title = `${title} · dpviz`;
};
/** Return the people and the values that the form describes, as the worker takes them. */
const described = () => {
  const { data: { value: name }, seed } = form.elements;
  const people = name === live.painted ? name + painting.code : name;
  return { data: people, seed: seed.value, values: texts("values"), blobs: texts("blobs"), columns: chosen() };
};
const ask = (what) => {
  if (isPrivate()) return price();
  if (what === "run") asked = { ...described(), method: form.elements.method.value };
  const other = what === "run" && form.elements.other.value;
  busy(true);
  say("Running …", -1);
  worker.postMessage(other ? { ask: "compared", form: { ...asked, other } } : { ask: what, form: asked });
};
const missing = () => {
  if (location.protocol === "file:") return "Python cannot be loaded from a folder: open this page from a web server, "
    + "such as the one that `python3 -m http.server` starts in the site's folder.";
  if (!globalThis.Worker) return "This browser has no web workers, so Python cannot run here; use a newer one.";
  if (!globalThis.WebAssembly) return "WebAssembly is missing or switched off in this browser; Python needs it.";
  return "";
};
/** Fetch every file with the hash that the build wrote, and list the new ones; one that has another hash is named. */
const fetched = async (fresh) => {
  let bytes = 0;
  const one = async ([name, [integrity, size]]) => {
    const address = new URL(live.folder + name, location).href;
    try {
      let content = await recalled(address, integrity);
      if (!content) {
        const answer = await fetch(address, { integrity });
        if (!answer.ok) throw new Error(name);
        content = await answer.blob();
        fresh.push([address, content]);
      }
      bytes += size;
      say(`Loading: ${megabytes(bytes)} of ${megabytes(total)} MB`, bytes / total);
      return [name, content];
    } catch {
      // a changed file and a missing network look the same to a script, so ask whether the file is there
      const there = await fetch(address, { method: "HEAD", cache: "no-store" }).catch(() => null);
      throw there?.ok
        ? `${name} is not the file that this site was built with, so Python was not started. `
          + "Open this page again; if it stays so, tell whoever runs this site."
        : `${name} could not be fetched from this site${there ? ` (error ${there.status})` : ": are you online?"}`
          + " Python was not started; load it again.";
    }
  };
  const all = await Promise.allSettled(Object.entries(live.files).map(one));
  for (const { reason } of all) if (reason) throw reason; // once no progress can overwrite it
  return new Map(all.map(({ value }) => value));
};
// with it nothing may be asked of any host, this one included; a worker is bound by the policies of its page
const policy = () => made("meta", { httpEquiv: "Content-Security-Policy",
  content: "connect-src 'none'; worker-src blob:" });
const unserved = (view) => Reflect.deleteProperty(view.Navigator.prototype, "serviceWorker"); // its update is a request
/** Keep these files for the next visit, and then forbid this page every request. */
const shut = async (fresh) => {
  say("Keeping the files for your next visit …", -1);
  offline = await stay(fresh);
  document.head.append(policy());
  unserved(window);
};
const UNOPENED = "The browser has not opened the hidden frame of this page in which Python starts, so nothing runs: an "
  + "extension or a rule of the browser may block frames. Allow them on this page, then open it again.";
let frame = null; // of the window in which Python runs
/** Return a window without content that may ask no host, so that Python can start in it before this page is shut. */
const walled = () => new Promise((done, refuse) => {
  frame?.remove();
  frame = made("iframe", { hidden: true, srcdoc: policy().outerHTML });
  const late = setTimeout(say, 5_000, UNOPENED); // a frame that opens after all goes on, and what it says replaces this
  frame.onload = () => {
    clearTimeout(late);
    try {
      const { contentWindow: view, contentDocument } = frame;
      if (!contentDocument.querySelector("meta")) throw new Error("the frame has no policy");
      unserved(view);
      done(view);
    } catch {
      refuse(UNOPENED); // an error page of the browser, or an empty one, stands in the frame
    }
  };
  document.body.append(frame);
});
const load = async () => {
  if (missing()) return say(missing());
  find(".load").parentElement.hidden = true;
  began = performance.now();
  const fresh = [];
  let Walled;
  try {
    kept ??= await fetched(fresh);
    ({ Worker: Walled } = await walled());
  } catch (words) {
    return end(words);
  }
  const text = document.getElementById("worker").textContent;
  const now = new Walled(URL.createObjectURL(new Blob([text], { type: "text/javascript" })), { type: "module" });
  now.onerror = () => end("The browser ended Python. If memory is short, close other tabs; then load it again.");
  now.onmessage = async ({ data: message }) => {
    await closed;
    if (worker === now) take(message);
  };
  worker = now;
  closed ??= shut(fresh);
  return now.postMessage({ load: kept });
};
