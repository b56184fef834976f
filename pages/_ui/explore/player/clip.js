// Record the plane's film as a video in the browser: a title, the picture and a line of facts, 10 to 20 seconds long.
const [WIDTH, HEIGHT, EDGE, TOP, END] = [1280, 720, 28, 84, 40]; // pixels of the video, its margins, head and foot
const [LEAST, MOST, HOLD, RATE] = [10_000, 20_000, 1500, 30]; // milliseconds of a film, of its end; pictures a second
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

/** Return the plane's picture as a stage of its own, as large as the video allows. */
const staged = (Stage, figure, room) => {
  const copy = structuredClone(figure), { meta, margin: m } = copy.layout, tall = HEIGHT - TOP - END;
  if (meta?.ar) meta.h = tall;
  else copy.layout.height = tall;
  const width = meta?.ar ? (tall - m.t - m.b) / meta.ar + m.l + m.r : WIDTH - 2 * EDGE;
  room.style.cssText = `position:fixed; left:-9999px; top:0; width:${Math.min(width, WIDTH - 2 * EDGE)}px`;
  document.body.append(room);
  return new Stage(room.appendChild(document.createElement("canvas")), copy, { step: 0 });
};

/** Return a function that draws the video's picture: words around what the stage shows. */
const composed = (c, stage, data, style) => {
  const ink = style.getPropertyValue("--st-text-color"), ground = style.getPropertyValue("--st-background-color");
  const font = style.getPropertyValue("--st-font") || "sans-serif";
  return () => {
    c.fillStyle = ground;
    c.fillRect(0, 0, WIDTH, HEIGHT);
    c.fillStyle = ink;
    c.textBaseline = "alphabetic";
    c.font = `700 30px ${font}`;
    c.fillText(data.title, EDGE, 42, WIDTH - 2 * EDGE);
    c.font = `20px ${font}`;
    c.fillText(data.facts, EDGE, 70, WIDTH - 2 * EDGE);
    c.drawImage(stage.canvas, (WIDTH - stage.width) / 2, TOP, stage.width, stage.height);
    c.font = `18px ${font}`;
    c.fillText(data.foot, EDGE, HEIGHT - 14, WIDTH - 2 * EDGE);
  };
};

/** Play all events into the stage, faster or slower so that they fit; `told(share)` follows. Stop if `over()`. */
const played = (Reel, stage, draw, told, over) => new Promise((done) => {
  const steps = Array.from({ length: stage.last + 1 }, (_, step) => stage.events(step));
  const all = steps.flat().reduce((sum, { ms }) => sum + ms, 0);
  const reel = new Reel(steps, Boolean(steps[0][0].acts), (step, moment) => {
    stage.moment(step, moment);
    draw();
    told((reel.at - reel.first) / (reel.last - reel.first || 1));
    if (!over()) return;
    reel.pause();
    done();
  });
  Object.assign(reel, { at: reel.first, pace: all / Math.min(Math.max(all, LEAST), MOST) });
  reel.play(done);
});

/** Draw the last picture for a while: a video ends with its last new picture. */
const held = (draw) => new Promise((done) => {
  const begin = performance.now();
  const tick = (now) => {
    draw();
    if (now - begin < HOLD) requestAnimationFrame(tick);
    else done();
  };
  tick(begin);
});

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".dpviz-clip");
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Clip" });
  const words = Object.assign(document.createElement("output"), { textContent: "" });
  button.title = "A video of 10 to 20 seconds, made in this browser.";
  root.replaceChildren(button, words);
  let busy = false, gone = false;
  const kind = KINDS.find((one) => window.MediaRecorder?.isTypeSupported(one));

  const record = async () => {
    const plane = [...document.querySelectorAll(`${data.scope} .dpviz-stage`)].find(
      ({ panel }) => panel?.data.name === "plane" && panel.stage,
    );
    if (!kind || !plane) {
      words.textContent = "This browser cannot record a picture: take Replay, which plays in any browser.";
      return;
    }
    const { Stage, Reel } = await import(streamlit.near(`../../${data.stage}`)), room = document.createElement("div");
    const stage = staged(Stage, plane.panel.stage.original, room), video = document.createElement("canvas");
    Object.assign(video, { width: WIDTH, height: HEIGHT });
    const draw = composed(video.getContext("2d"), stage, data, getComputedStyle(root)), parts = [];
    const recorder = new MediaRecorder(video.captureStream(RATE), { mimeType: kind, videoBitsPerSecond: 4_000_000 });
    recorder.ondataavailable = ({ data: part }) => parts.push(part);
    const ended = new Promise((done) => { recorder.onstop = done; });
    draw();
    recorder.start();
    const told = (share) => { words.textContent = ` ${Math.round(100 * share)}%`; };
    await played(Reel, stage, draw, told, () => !busy || gone);
    if (busy && !gone) await held(draw);
    recorder.stop();
    await ended;
    stage.close();
    room.remove();
    if (!busy || gone) return;
    const link = document.createElement("a"), blob = new Blob(parts, { type: kind.split(";")[0] });
    link.href = URL.createObjectURL(blob);
    link.download = `${data.name}.${kind.includes("mp4") ? "mp4" : "webm"}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  button.onclick = async () => {
    if (busy) return void (busy = false);
    [busy, button.textContent] = [true, "Cancel clip"];
    await record();
    [busy, button.textContent] = [false, "Clip"];
    if (words.textContent.endsWith("%")) words.textContent = "";
  };
  return () => { gone = true; };
}
