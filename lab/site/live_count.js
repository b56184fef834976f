// The count of private runs: this browser keeps the claims of each file under an HMAC that only it can compute.
const COUNT = "dpviz-count";
let key = null; // of the HMAC; no script can read its bytes
const opening = () => new Promise((done, fail) => {
  const asked = indexedDB.open(COUNT, 1);
  asked.onupgradeneeded = () => ["keys", "files"].forEach((name) => asked.result.createObjectStore(name));
  asked.onsuccess = () => done(asked.result);
  asked.onerror = asked.onblocked = () => fail(asked.error ?? new Error("blocked"));
});
/** Change one entry in one transaction, which other tabs wait for; return the entry once it is on the disk. */
const amend = async (place, name, change) => {
  const base = await opening();
  return new Promise((done, fail) => {
    const turn = base.transaction(place, "readwrite", { durability: "strict" }), store = turn.objectStore(place);
    const asked = store.get(name);
    let kept;
    asked.onsuccess = () => {
      try {
        kept = change(asked.result);
        if (kept !== asked.result) store.put(kept, name);
      } catch {
        turn.abort();
      }
    };
    turn.oncomplete = () => done(kept);
    turn.onabort = () => fail(turn.error ?? new Error("the browser ended it"));
  }).finally(() => base.close());
};
/** Return a sentence if this browser cannot count, else "", with the key at hand. */
const uncounted = async () => {
  const refused = "A private file is not opened, because its runs could not be counted: ";
  if (!globalThis.isSecureContext || !globalThis.crypto?.subtle)
    return `${refused}the browser offers that only to pages over https or from this computer.`;
  try {
    const made = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    key = await amend("keys", "hmac", (was) => was ?? made);
    await amend("keys", "tried", () => Date.now()); // whether anything can be written now
    return "";
  } catch {
    key = null;
    return `${refused}this browser keeps nothing for this page. Its storage is full or forbidden, as it may be in a `
      + "private window.";
  }
};
/** Record what a file was declared to be; return its entry, in which the first declaration stays. */
const declare = (digest, secret) => amend("files", digest, (was) => was ?? { secret, claims: [] });
/** Add claims to those that a file has, and drop none; with `seen`, only if there are that many now. */
const add = (digest, claims, seen = null) => amend("files", digest, (was) => {
  if (seen !== null && was.claims.length !== seen) return was;
  const known = new Set(was.claims.map(({ id }) => id));
  return { ...was, claims: [...was.claims, ...claims.filter(({ id }) => !known.has(id))] };
});
