// Two runs side by side on the page Run it here: two methods on public people, or two releases that are counted.
const paid = find(".paid"), drawn = []; // the releases of this tab: HMAC of the file, id of the claim, name
/** Offer to compare the releases on the open private file, once there are two. */
const choosing = () => {
  const ours = drawn.filter((one) => one.digest === digest);
  paid.hidden = ours.length < 2;
  const pick = (letter, at) => {
    const select = made("select", {}, ...ours.map(({ id, name }) => new Option(name, id)));
    select.selectedIndex = at;
    return made("label", {}, `Release ${letter}`, select);
  };
  const picks = [pick("A", ours.length - 2), pick("B", ours.length - 1)];
  const show = () => {
    busy(true);
    say("Drawing both …", -1);
    worker.postMessage({ ask: "releases", form: { claims: picks.map((one) => one.lastChild.value) } });
  };
  paid.replaceChildren(made("p", { textContent: "These releases on this file are counted already: to put two of them "
    + "side by side spends nothing." }), ...picks, button("Compare these two", show));
};
const side = ({ name, badge, released: sure, secret }) => made("section", {},
  made("h3", { textContent: name }), made("p", {}, made("span", { className: "badge", textContent: badge })),
  made("p", { className: "verdict", textContent: `Released: ${sure}` }),
  ...(secret ? [made("p", {}, made("b", { textContent: "Not released; seen here because rows are public: " }), secret)]
    : []));
const beside = ({ title, film, runs, kind, budget, differs, page }) => {
  close();
  asked = null; // what "Again" repeats is one method
  busy(false);
  say(page ? "Ran both." : "Nothing was run or spent.");
  const player = made("div", { className: "beside", innerHTML: film }); // written by dpviz, which escapes all text
  const [links, drop] = offered(["comparison.html", page, "Comparison on one page"]);
  const unlike = kind ? [made("p", { className: "unlike" }, made("b", { textContent: "The promises differ in kind. " }),
    kind)] : [];
  found.replaceChildren(made("h2", { textContent: title }), ...unlike, player,
    made("div", { className: "sides" }, ...runs.map(side)),
    ...(budget ? [made("p", { className: "small", textContent: budget })] : []),
    table("What differs", ["Property", ...runs.map(({ name }) => name)], differs), links);
  close = ((stop) => () => { stop(); drop(); })(replayed(player));
  document.title = `${title} · dpviz`;
};
ANSWERS.compared = ANSWERS.releases = beside;
