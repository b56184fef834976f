// The trade-off on the page Run it here: chosen methods over values of ε, one method at one ε after another.
const grid = find(".grid"), curves = find(".curves");
let plan = null; // what is left to compute, and the rows and refusals so far
const plot = () => {
  if (isPrivate())
    return say("There is no trade-off on a private file: each ε would be a run that costs privacy. Use people that "
      + "are public or made up.");
  const methods = [...grid.querySelectorAll(":checked")].map(({ value }) => value);
  const budgets = grid.querySelector("[name=budgets]").value.split(/[\s,;]+/).filter(Boolean);
  if (!methods.length || !budgets.length) return say("Tick a method, and write a value of ε.");
  const left = methods.flatMap((method) => budgets.map((epsilon) => ({ method, epsilon })));
  const about = { ...described(), runs: grid.querySelector("[name=runs]").value };
  plan = { left, about, all: left.length, rows: [], refused: new Set(), began: performance.now() };
  curves.replaceChildren();
  busy(true);
  say("Running …", 0);
  return next();
};
const next = () => worker.postMessage({ ask: "plotted", form: { ...plan.about, ...plan.left[0], rows: plan.rows } });
/** Draw what is there, and go on; what a method refuses at an ε is said at the end, and leaves a gap. */
const plotted = ({ row, figure, refused }) => {
  if (refused) plan.refused.add(refused);
  else {
    plan.rows.push(row);
    curves.innerHTML = figure; // written by dpviz, which escapes all text
  }
  plan.left.shift();
  const { left, all, began, rows } = plan, done = all - left.length, seconds = (performance.now() - began) / 1000;
  if (left.length && !plan.cancelled) {
    say(`${done} of ${all} points; about ${Math.ceil((seconds / done) * left.length)} s left`, done / all);
    return next();
  }
  const words = [plan.cancelled && left.length ? `Stopped after ${done} of ${all} points.`
    : `Computed ${rows.length} of ${all} points in ${seconds.toFixed(0)} s.`, ...plan.refused];
  busy(false);
  return say(words.join(" "));
};
/** Let the curves end after the present point; return whether there are any to end so. */
const cancel = () => {
  if (!plan || plan.cancelled) return false;
  plan.cancelled = true;
  say("Stopping after the present point …", -1);
  return true;
};
