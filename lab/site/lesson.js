// The question of a lesson: a prediction opens the run, a first wrong answer the hint and a second try, and the right
// answer, or two wrong ones, the explanation. Every sentence comes from the page.
const form = document.querySelector("form.predict"), [button, status] = ["button", "[role=status]"].map((one) =>
  form.querySelector(one));
const answers = JSON.parse(document.querySelector("#answers").textContent), inputs = [...form.elements.answer];
const [run, hint, answer] = [".run", "details.hint", "details.answer"].map((one) => document.querySelector(one));
const tries = [];
let opened = false;
const chosen = () => inputs.filter((one) => one.checked).map((one) => one.value).join(",");
const ready = () => { button.disabled = !(chosen() in answers) || (tries.length > 0 && chosen() === tries[0]); };

const unfold = (fold) => { // right below the answers, where somebody on a phone sees it
  form.after(fold);
  fold.hidden = false;
  fold.open = true;
};

run.inert = true; // until there is a prediction
hint.hidden = answer.hidden = true;
button.hidden = false;
form.addEventListener("input", ready);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!opened) {
    opened = true;
    run.inert = false;
    button.textContent = "Check";
    status.textContent = "Now watch the run, and check your answer afterwards. You may still change it.";
    run.querySelector("[data-do=play]")?.focus();
    return;
  }
  tries.push(chosen());
  const [right, first, second, reply] = answers[chosen()];
  status.textContent = `${tries.length === 1 ? first : second} ${reply}`;
  if (right || tries.length === 2) {
    for (const one of inputs) one.disabled = true;
    button.hidden = hint.hidden = true;
    unfold(answer);
    return;
  }
  unfold(hint);
  for (const one of inputs) if (one.type === "radio" && one.checked) [one.disabled, one.checked] = [true, false];
  button.textContent = "Check the second try";
  ready();
});
ready();
