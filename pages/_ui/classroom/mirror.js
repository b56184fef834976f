// Reports the step of the lecturer's player to the server, a moment after it comes to rest.
export default function ({ setStateValue }) {
  // the transport reports the step here; a page with an address undoes this
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
