// The clusters of a run on an own file on the page Run it here, as cards; a slider reads released points again.
const small = (...texts) => texts.filter(Boolean).map((textContent) => made("p", { className: "small", textContent }));
const clustered = ({ cards, noise }) => [made("div", { innerHTML: cards }), ...small(noise)]; // escaped by dpviz
/** Return a slider for the number of centers and a sentence on its price, if a run released points. */
const rereading = ({ most, own: k, free }) => {
  if (!most) return [];
  const shown = made("output", { textContent: k });
  const slider = made("input", { type: "range", min: 1, max: most, value: k, ariaLabel: "Any k afterwards" });
  slider.addEventListener("input", () => { shown.textContent = slider.value; });
  slider.addEventListener("change", () => {
    busy(true);
    say("Reading the released points again …", -1);
    worker?.postMessage({ ask: "read_again", form: { k: slider.value } });
  });
  const files = `The picture and the files show the run's own ${k}.`;
  return [made("p", { className: "any" }, made("label", {}, "Any k afterwards ", slider, " ", shown)),
    ...small(`${free} ${files}`)];
};
/** Return the cards with the slider and the sentences about them, or nothing. */
const carded = (answer) => (answer.cards ? [...rereading(answer),
  made("div", { className: "clusters" }, ...clustered(answer)), ...small(answer.rehearsed)] : []);
ANSWERS.read_again = (answer) => {
  busy(false);
  say("Nothing was run or spent.");
  find(".found .clusters").replaceChildren(...clustered(answer));
};
