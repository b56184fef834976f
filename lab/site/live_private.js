// A private run on the page Run it here: checked, priced, counted in this browser, and only then drawn.
const offer = find(".price");
// the form that is priced; the open file's HMAC; how many claims its price knew; what ends a paid run
let [wanted, digest, seen, finish] = [null, "", 0, null];
const isPrivate = () => form.elements.data.value === live.own && form.elements.kind.value === "private";
const withdraw = () => {
  offer.hidden = true;
  offer.replaceChildren();
};
const button = (words, act) => made("button", { type: "button", textContent: words, onclick: act });
const fail = (words) => { busy(false); say(words); };
const price = () => {
  withdraw();
  const { method, n_public: size, rows_per_person: most } = form.elements;
  wanted = { method: method.value, values: texts("values"), columns: chosen(), n_public: size.value,
    rows_per_person: most.value };
  busy(true);
  say("Reading the file …", -1);
  worker.postMessage({ ask: "checked", form: wanted, key });
};
/** Look up what was counted on a file whose HMAC the worker has found, and have the run priced with it. */
const reckon = async (words = "") => {
  try {
    const entry = await declare(digest, true);
    if (!entry.secret) return fail("You already declared this file public in this browser; that is final.");
    seen = entry.claims.length;
    choosing();
    worker?.postMessage({ ask: "priced", form: { ...wanted, claims: entry.claims } });
    if (words) out.textContent = words;
  } catch {
    fail("This browser cannot read its count now. Nothing was drawn or spent.");
  }
};
const quote = ({ claim, price: sentences, after }) => {
  busy(false);
  say("");
  const load = made("input", { type: "file", accept: ".json", onchange: () => merge(load.files[0]) });
  offer.replaceChildren(made("h2", { textContent: "The price of this run" }),
    ...sentences.map((words) => made("p", { textContent: words })),
    made("p", { textContent: "Nothing is refunded, neither for a stopped run nor for a closed tab." }),
    made("p", { className: "acts" }, button("Spend and draw", () => spend(claim, after)), " ",
      button("Not yet", () => { withdraw(); say("Nothing was drawn or spent."); })),
    made("p", { className: "small" }, button("Keep this count as a file", () => keep()), " ",
      made("label", {}, "Add a kept count ", load)));
  offer.hidden = false;
};
const keep = async () => {
  const { claims } = await declare(digest, true);
  busy(true);
  worker.postMessage({ ask: "exported", form: { claims } });
};
const merge = async (file) => {
  if (file.size > 4e6) return say("This is not a count that a browser kept for dpviz. Nothing was added.");
  const { claims } = await declare(digest, true);
  withdraw();
  busy(true);
  worker.postMessage({ ask: "merged", form: { claims, text: await file.text() } });
};
/** Count a run and then have it drawn; another tab can do neither meanwhile. */
const spend = (claim, after) => {
  withdraw();
  busy(true);
  say("Counting …", -1);
  return navigator.locks.request("dpviz-run", { ifAvailable: true }, async (lock) => {
    if (!lock) return fail("Another tab is drawing a private run; wait for it. Nothing was drawn or spent.");
    try {
      const { claims } = await add(digest, [claim], seen);
      if (claims.at(-1)?.id !== claim.id) return reckon("Another tab has counted a run since: see the new price.");
    } catch {
      return fail("This browser could not write its count: is its storage full? Nothing was drawn or spent.");
    }
    if (!worker) return say(`Stopped. The run that was counted stays counted in full. ${after}`);
    say("Counted; drawing …", -1);
    const done = new Promise((free) => { finish = free; });
    worker.postMessage({ ask: "drawn", form: { claim: claim.id } });
    const answer = await done;
    finish = null;
    busy(false);
    if (answer.refused) return say(`${answer.refused} The run stays counted in full. ${after}`);
    if (!answer.ended) released(answer, after, claim);
    return null;
  });
};
const released = (answer, after, claim) => {
  const { film, verdict, doubts, trace, label, csv, page, title } = answer;
  close();
  say(`Drawn. ${after}`);
  drawn.push({ digest, id: claim.id, name: `${drawn.length + 1}: ${verdict.split(" · ")[0]}, ${claim.name}` });
  choosing();
  const [links, drop] = offered(["release.json", trace, "Save this release (JSON)"],
    ["label.json", label, "Privacy label (JSON)"], ["clusters.csv", csv, "Clusters as CSV"],
    ["clusters.html", page, "Clusters on one page"]);
  const player = made("div", { innerHTML: film });
  found.replaceChildren(made("p", { className: "verdict", textContent: `Released: ${verdict}` }),
    ...doubts.map((words) => made("p", { textContent: words })), ...carded(answer), player, links);
  close = ((stop) => () => { stop(); drop(); })(replayed(player));
  document.title = `${title} · dpviz`;
};
/** Act on an answer of the worker about an own file. */
const ANSWERS = {
  checked: ({ digest: found }) => { digest = found; return reckon(); },
  opened: describe,
  named: admit,
  priced: quote,
  exported: ({ kept }) => {
    busy(false);
    const href = URL.createObjectURL(new Blob([kept], { type: "application/json" }));
    made("a", { href, download: "count.json" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  },
  merged: async ({ claims, added }) => {
    await add(digest, claims);
    return reckon(`${added} of the kept runs are new.`);
  },
};
