// Tells the server at which step the lecturer's player is, a moment after it has come to rest there.
export default function ({ setStateValue }) {
  // the transport tells the step here; a page with an address takes it back
  const kept = (window.__dpvizAddress ??= {});
  let timer = 0;
  kept.step = (step) => {
    clearTimeout(timer);
    timer = setTimeout(() => setStateValue("step", step), 250);
  };
  return () => {
    clearTimeout(timer);
    delete kept.step;
  };
}
