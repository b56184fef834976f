// Writes answer codes as `codes.py` does, which reads them. The checksum finds slips of copying; it is no signature.
const checksum = (body) => {
  let total = 0x811c9dc5;
  for (const one of body) total = Math.imul(total ^ one.charCodeAt(0), 0x01000193) >>> 0;
  return total.toString(16).padStart(8, "0");
};

/** Return the code of {lesson, draw, student, predicted, tries}, or "" if there is no such name. */
const answerCode = (record) => {
  const student = record.student.trim().split(/\s+/u).join(" ");
  if (!student || [...student].length > MOST_NAME || /\p{C}/u.test(student)) return "";
  const bytes = new TextEncoder().encode(JSON.stringify({ ...record, student, version: VERSION }));
  const body = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `dpviz-answers.${body}.${checksum(body)}`;
};
