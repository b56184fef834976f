// Reports the step of the lecturer's player to the server, a moment after it comes to rest.
export default function ({ setStateValue }) {
  // makes the transport report its step here; a page with an address resets this
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
