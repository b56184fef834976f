// Stores the class's code and the browser's token, so that a phone or the lecturer can leave and return.
const PLACE = "dpviz-class";
export default function ({ data, parentElement, setStateValue }) {
  try {
    if (data.save) localStorage.setItem(PLACE, JSON.stringify(data.save));
    else if (data.forget) localStorage.removeItem(PLACE);
    if (parentElement.told) return;
    parentElement.told = true;
    setStateValue("kept", JSON.parse(localStorage.getItem(PLACE) ?? "null") ?? {});
  } catch { // storage is blocked: the class continues, but a reload takes a new seat
    if (!parentElement.told) setStateValue("kept", {});
    parentElement.told = true;
  }
}
