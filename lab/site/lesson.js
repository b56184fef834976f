// The question of a lesson: a prediction opens the run, a first wrong answer the hint and a second try, and the right
// answer, or two wrong ones, the explanation and an answer code. Every sentence comes from the page, which holds all
// draws of the noise. `replayed` and `answerCode` are above this script.
const find = (name) => document.querySelector(name);
const packed = Uint8Array.from(atob(find("#draws").textContent), (one) => one.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const box = find(".lesson"), draws = JSON.parse(await new Response(stream).text());

/** Ask the question of the draw that is shown; who has `predicted` on another draw sees the run at once. */
const asked = (draw, predicted) => {
  const form = find("form.predict"), [button, status] = ["button", "[role=status]"].map((one) =>
    form.querySelector(one));
  const answers = JSON.parse(find("#answers").textContent), inputs = [...form.elements.answer];
  const [run, hint, answer, hand] = [".run", "details.hint", "details.answer", "form.hand"].map(find);
  const tries = [];
  const chosen = () => inputs.filter((one) => one.checked).map((one) => one.value).join(",");
  const ready = () => { button.disabled = !(chosen() in answers) || (tries.length > 0 && chosen() === tries[0]); };
  const numbers = (one) => one.split(",").map(Number);

  const unfold = (fold) => { // right below the answers, where somebody on a phone sees it
    form.after(fold);
    fold.hidden = false;
    fold.open = true;
  };
  const open = () => {
    run.inert = false;
    button.textContent = "Check";
    status.textContent = "Now watch the run, and check your answer afterwards. You may still change it.";
    ready();
  };
  const handed = () => {
    const { student } = hand.elements, text = hand.querySelector("textarea"), { lesson } = box.dataset;
    const code = answerCode({
      lesson, draw, student: student.value, predicted: numbers(predicted), tries: tries.map(numbers),
    });
    text.value = code;
    text.hidden = !code;
  };

  run.inert = true; // until there is a prediction
  hint.hidden = answer.hidden = true;
  button.hidden = false;
  form.addEventListener("input", ready);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!predicted) {
      predicted = chosen();
      open();
      run.querySelector("[data-do=play]")?.focus();
      return;
    }
    tries.push(chosen());
    const [right, first, second, reply] = answers[chosen()];
    status.textContent = `${tries.length === 1 ? first : second} ${reply}`;
    if (right || tries.length === 2) {
      for (const one of inputs) one.disabled = true;
      button.hidden = hint.hidden = true;
      answer.after(hand);
      unfold(answer);
      answer.after(hand);
      hand.hidden = false;
      return;
    }
    unfold(hint);
    for (const one of inputs) if (one.type === "radio" && one.checked) [one.disabled, one.checked] = [true, false];
    button.textContent = "Check the second try";
    ready();
  });
  hand.addEventListener("input", handed);
  hand.addEventListener("submit", (event) => event.preventDefault());
  hand.querySelector("textarea").addEventListener("focus", (event) => event.target.select());
  const again = run.querySelector(".again");
  if (again) {
    again.hidden = false;
    again.onclick = () => shown((draw + 1) % draws.length, predicted);
  }
  ready();
  if (!predicted) return;
  for (const one of inputs) one.checked = predicted.split(",").includes(one.value);
  open();
};

let end = () => {};
const shown = (draw, predicted) => {
  end();
  box.innerHTML = draws[draw];
  end = replayed(box);
  asked(draw, predicted);
  if (predicted) find(".again").focus();
};
shown(0, "");
