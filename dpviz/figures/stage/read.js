// Read plotly's JSON: typed arrays in base64, one value for all points or one per point, frames that override data.
const KINDS = {
  f4: Float32Array, f8: Float64Array, i1: Int8Array, u1: Uint8Array, u1c: Uint8ClampedArray, i2: Int16Array,
  u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
};

export const isList = (v) => Array.isArray(v) || ArrayBuffer.isView(v);
export const isObject = (v) => v !== null && typeof v === "object" && !isList(v);

const decode = ({ bdata, dtype, shape }) => {
  const flat = new KINDS[dtype](Uint8Array.from(atob(bdata), (c) => c.charCodeAt(0)).buffer);
  const [rows, columns] = String(shape ?? "").split(",").map(Number);
  return columns ? Array.from({ length: rows }, (_, i) => flat.subarray(i * columns, (i + 1) * columns)) : flat;
};

/** Return whether a value holds others: an object, or a plain list. */
export const holds = (v) => isObject(v) || Array.isArray(v);

/** Return a value with its packed arrays unpacked to typed ones. */
export const unpack = (v) => {
  if (isObject(v)) {
    if (v.bdata !== undefined) return decode(v);
    return Object.fromEntries(Object.entries(v).map(([key, inner]) => [key, unpack(inner)]));
  }
  return Array.isArray(v) && v.some(holds) ? v.map(unpack) : v;
};

/** Return the value of point i: an attribute is one value for all points, or a list. */
export const at = (v, i) => (isList(v) ? v[i] : v);

/** Return `base` with the changes in `over`; lists are replaced as a whole. */
export const merge = (base, over) => {
  if (!isObject(base) || !isObject(over)) return over === undefined ? base : over;
  const both = { ...base };
  for (const key in over) both[key] = merge(base[key], over[key]);
  return both;
};

export const equal = (a, b) => {
  if (a === b || (a !== a && b !== b)) return true;
  if (isList(a) && isList(b)) return a.length === b.length && Array.prototype.every.call(a, (v, i) => equal(v, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => equal(a[key], b[key]));
};

export const finite = (v) => typeof v === "number" && Number.isFinite(v);
