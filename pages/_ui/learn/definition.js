// The definition's host in the app: it loads the stage that draws every panel, and takes the page's colors.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".dpviz-definition");
  import(streamlit.near(`../../${data.stage}`))
    .then(({ Stage }) => {
      if (root.record === data.record || !root.isConnected) return;
      root.definition?.close();
      root.record = data.record;
      const record = JSON.parse(data.record);
      if (root.definition) record.start = root.definition.at; // another mode's colors, at the same place
      root.definition = new Definition(root, Stage, record);
    })
    .catch((error) => console.error(error));
  return () => setTimeout(() => { if (!root.isConnected) root.definition?.close(); });
}
