// Keeps a deck of one's own in the browser's tab, and sends it back once after a reload.
const PLACE = "dpviz-deck";
export default function ({ data, setTriggerValue }) {
  try {
    const kept = window.__dpvizDeck ? null : sessionStorage.getItem(PLACE);
    window.__dpvizDeck = true;
    if (kept && !data.deck) setTriggerValue("kept", kept);
    else if (data.deck) sessionStorage.setItem(PLACE, data.deck);
    else sessionStorage.removeItem(PLACE);
  } catch { // storage is blocked or full: a reload begins with the default deck
    window.__dpvizDeck = true;
  }
}
