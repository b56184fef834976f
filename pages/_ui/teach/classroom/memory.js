// Stores the class's code and the browser's token, so that a phone or the lecturer can leave and return.
const { read, write } = storage("dpviz-class", {});
export default function ({ data, parentElement, setStateValue }) {
  if (data.save) write(data.save);
  if (!parentElement.told) setStateValue("kept", read()); // if storage is blocked, a reload takes a new seat
  parentElement.told = true;
}
