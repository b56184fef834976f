// What this browser keeps under a key; this text stands before each script that needs it. Nothing is sent.
const storage = (key, none) => ({
  /** Return what is kept, or `none` if nothing is, if it is of another kind, or if the storage is blocked. */
  read() {
    try {
      const kept = JSON.parse(localStorage.getItem(key));
      return kept?.constructor === none.constructor ? kept : none;
    } catch { return none; }
  },
  write(value) { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* blocked or full */ } },
});
