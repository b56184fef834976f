// Tells the server at which step the lecturer's player stands, a moment after it has come to rest there.
export default function ({ setStateValue }) {
  let timer = 0;
  window.__dpvizAddress = { ...window.__dpvizAddress, step: (step) => {
    clearTimeout(timer);
    timer = setTimeout(() => setStateValue("step", step), 250);
  } };
  return () => clearTimeout(timer);
}
