// The rehearsal on the page Run it here: from what is declared of an own file alone, in parts between which it stops.
const rehearsal = find(".rehearsal");
let rehearsing = null; // the form that is rehearsed, and whether to go on after the part that is being made
const rehearse = () => {
  const { method, n_public: size, rows_per_person: most, shares, near } = form.elements;
  withdraw();
  rehearsal.hidden = true;
  busy(true);
  rehearsing = { on: true, form: { method: method.value, values: texts("values"), columns: chosen(),
    n_public: size.value, rows_per_person: most.value, shares: shares.value, near: near.value } };
  say("Rehearsing …", -1);
  worker.postMessage({ ask: "rehearsed", form: rehearsing.form });
};
/** Let a rehearsal end after the part that is being made; return whether there was one to end so. */
const halt = () => {
  if (!rehearsing?.on) return false;
  rehearsing.on = false;
  say("Stopping after the runs in this town …", -1);
  return true;
};
const table = (caption, heads, lines) => made("div", { className: "scroll", tabIndex: 0, role: "region",
  ariaLabel: caption }, made("table", {},
  made("caption", { textContent: caption }),
  made("thead", {}, made("tr", {}, ...heads.map((words) => made("th", { scope: "col", textContent: words })))),
  made("tbody", {}, ...lines.map(([head, ...cells]) => made("tr", {}, made("th", { scope: "row", textContent: head }),
    ...cells.map((words) => made("td", { textContent: words })))))));
const recount = ({ headline, judgment, towns, noise, remarks }, whole) => {
  rehearsal.replaceChildren(made("h2", { textContent: `${headline}${whole ? "" : ", so far"}` }),
    made("p", {}, made("b", { textContent: judgment })),
    made("div", { className: "both" },
      table("Towns, the worst first", ["town", "all groups found", "loss × KMeans"], towns),
      table("Noise of a center", ["column", "noise of a center"], noise)),
    made("p", { className: "small", textContent: remarks }));
  rehearsal.hidden = false;
};
ANSWERS.rehearsed = (answer) => {
  const { done, planned, headline } = answer, going = done < planned && rehearsing.on;
  if (headline) recount(answer, done === planned);
  if (going) return worker.postMessage({ ask: "rehearsed", form: rehearsing.form });
  busy(false);
  const how = done < planned ? `Stopped after ${done} of ${planned} runs; Rehearse goes on from there.`
    : `Rehearsed ${planned} runs.`;
  return say(`${how} Nothing was read or spent.`);
};
panel.addEventListener("input", () => { rehearsal.hidden ||= !rehearsing; }); // it was of another declaration
