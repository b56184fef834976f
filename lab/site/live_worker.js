// The worker of the page Run it here: it starts Python from the page's files, and answers each message.
const tell = (what) => self.postMessage(what);
const sentence = (error) => {
  const last = String(error?.message ?? error).trim().split("\n").at(-1);
  return /memory|allocat/i.test(last) ? "The tab has no memory left for Python. Close other tabs and load it again."
    : `Python stopped because of a fault in dpviz${held ? ", which is not shown while a file is open." : `: ${last}`}`;
};
const base = "https://files.invalid/"; // names the files for Python; a policy forbids requests to any host
/** Start Python from the files alone. */
const started = async (kept) => {
  const kinds = { wasm: "application/wasm", json: "application/json" };
  self.fetch = async (address) => {
    const name = new URL(address).href.replace(base, "");
    if (!kept.has(name)) throw new TypeError(`${name} is not a file of this page`);
    return new Response(kept.get(name), { headers: { "Content-Type": kinds[name.split(".").at(-1)] ?? "" } });
  };
  const script = (name) => import(URL.createObjectURL(kept.get(name).slice(0, undefined, "text/javascript")));
  const [{ loadPyodide }, made] = await Promise.all([script("pyodide.mjs"), script("pyodide.asm.mjs")]);
  const silent = { stdout() {}, stderr() {} }; // a warning may tell of a cell, and a console may be shared
  const about = { indexURL: base, packageBaseUrl: base, createPyodideModule: made.default, ...silent };
  const python = await loadPyodide(about);
  tell({ doing: "Unpacking numpy, scipy, scikit-learn and pandas" });
  // `loadPackage` would also compile every extension module of the packages, of which half are never imported
  for (const [name, file] of kept) if (name.endsWith(".whl")) python.unpackArchive(await file.arrayBuffer(), "wheel");
    else if (/^\w+\.zip$/.test(name) && name !== "python_stdlib.zip")
      python.unpackArchive(await file.arrayBuffer(), "zip", { extractDir: "/home/pyodide" });
  kept.clear();
  return python;
};
// every way to a host, to another worker or to a place where something stays; a policy forbids the requests anyway
const WAYS = ["fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport",
  "Worker", "SharedWorker", "BroadcastChannel", "importScripts", "caches", "CacheStorage", "Cache", "indexedDB",
  "IDBFactory", "IDBDatabase", "FontFace", "fonts", "Notification", "webkitRequestFileSystem",
  "webkitRequestFileSystemSync", "webkitResolveLocalFileSystemURL", "webkitResolveLocalFileSystemSyncURL"];
const KEEPERS = ["storage", "storageBuckets", "serviceWorker", "locks", "usb", "hid", "serial"];
/** Take these ways from everything that runs in this worker from now on, with the methods of what they make. */
const lose = () => {
  for (const name of WAYS) {
    const way = self[name];
    const kept = [way?.prototype, typeof way === "object" && way ? Object.getPrototypeOf(way) : null];
    for (const kind of kept) for (const key of Reflect.ownKeys(kind ?? {})) Reflect.deleteProperty(kind, key);
    for (let place = self; place; place = Object.getPrototypeOf(place)) Reflect.deleteProperty(place, name);
    Object.defineProperty(self, name, { value: undefined }); // an error if it is still there and fixed
  }
  for (const name of KEEPERS) Reflect.deleteProperty(Object.getPrototypeOf(navigator), name);
};
let [python, tab, held, whole, lost] = [null, null, null, null, false];
const content = (from, to) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(held.slice(from, to)));
/** Return bytes of the open file as Python's. */
const read = (from, to) => {
  try {
    return python.toPy(whole?.subarray(from, to) ?? content(from, to));
  } catch (error) {
    lost = true;
    throw error;
  }
};
/** Return what only this browser can compute of the open file, and keep the bytes that it was computed of. */
const named = async (key) => {
  try {
    whole ??= content(0, held.size);
  } catch (error) {
    lost = true;
    throw error;
  }
  const code = new Uint8Array(await crypto.subtle.sign("HMAC", key, whole));
  return Array.from(code, (one) => one.toString(16).padStart(2, "0")).join("");
};
self.onmessage = async ({ data: { load, ask, form, file, key } }) => {
  try {
    if (load) {
      tell({ doing: "Starting Python" });
      python = await started(load);
      lose();
      tell({ ready: true });
      tab = python.pyimport("in_tab"); // the longest part of the start: a visitor fills in the form meanwhile
    } else {
      [held, whole, lost] = [file ?? held, file ? null : whole, false];
      const seen = (made, planned) => tell({ made, planned, ask });
      const more = { opened: [read], priced: [read], run: [seen], again: [seen], drawn: [seen],
        rehearsed: [seen], compared: [seen], plotted: [seen] }[ask] ?? [];
      const found = ask === "named" ? {} : JSON.parse(tab[ask](JSON.stringify(form), ...more));
      if (key && !found.refused) found.digest = await named(key);
      if (ask === "named") whole = null; // the rows of a public file are not needed again
      tell({ found, ask });
    }
  } catch (error) {
    const words = lost ? "The file cannot be read: it was changed, moved or removed. Open it again." : sentence(error);
    if (tab && (lost || error.name === "PythonError")) tell({ found: { refused: words }, ask });
    else tell({ failed: words });
  }
};
