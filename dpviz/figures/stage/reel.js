// The clock of a film: a place on it is a step; between two steps lie the events that lead to the second one.

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const time = (events) => sum(events.map(({ ms }) => ms));
/** Return the number of the event, and the share of it, that is reached at a share of the time of some events. */
export const reached = (events, share) => {
  let rest = share * time(events), i = 0;
  while (i < events.length - 1 && rest > events[i].ms + 1e-6) rest -= events[i++].ms;
  return [i, Math.min(1, rest / events[i].ms)];
};

/** Plays events, forward in time; `draw(step, {event, share, pays, many})` draws a moment of them. */
export class Reel {
  /** `steps` lists the events [{ms, pays}] of every step; a film with acts begins before its first step, at -1. */
  constructor(steps, begins, draw) {
    Object.assign(this, { steps, draw, first: begins ? -1 : 0, last: steps.length - 1, at: steps.length - 1 });
    Object.assign(this, { playing: false, pace: 1, still: false, frame: 0 });
  }

  clamp(at) { return Math.max(this.first, Math.min(this.last, at)); }

  /** Return the moment at a place: step, event, share of it, last event that pays, share paid, number of events. */
  moment(at = this.at) {
    const step = Math.max(0, Math.ceil(at - 1e-9)), events = this.steps[step], many = events.length;
    const [event, part] = reached(events, this.first < 0 || step > 0 ? 1 - (step - at) : 1);
    const share = this.still ? 1 : part;
    const prices = events.map((one) => one.pays ?? 1), pays = prices.findLastIndex(Boolean);
    const paid = sum(prices.map((price, i) => price * (i < event ? 1 : i === event ? share : 0)));
    return { step, event, share, pays: pays < 0 ? many - 1 : pays, paid: paid / (sum(prices) || 1), many };
  }

  /** Return the places at which events end, in order. */
  get ends() {
    return (this.marks ??= this.steps.flatMap((events, step) => {
      let past = 0;
      return events.map(({ ms }, i) => {
        past += ms;
        return i === events.length - 1 ? step : step - 1 + past / time(events);
      });
    }));
  }

  /** Show a place at once. */
  go(at) {
    cancelAnimationFrame(this.frame);
    this.at = this.clamp(at);
    this.show();
  }

  show() {
    const { step, ...moment } = this.moment();
    this.draw(step, moment);
  }

  /** Move to a place in some milliseconds, through all that lies between. */
  move(at, ms) {
    const from = this.at, to = this.clamp(at);
    if (this.still || !(ms > 0)) return this.go(to);
    this.run((now) => {
      const u = Math.min(1, now / ms);
      this.at = u < 1 ? from + u * (to - from) : to;
      return u < 1;
    });
  }

  /** Play from here to a place, the end by default, then call `done`. */
  play(done, until = this.last) {
    this.playing = true;
    let before = 0;
    this.run((now) => {
      const { step } = this.moment(this.at + 1e-6), all = time(this.steps[Math.min(step, this.last)]);
      this.at = Math.min(until, this.at + (Math.min(now - before, SLOWEST) * this.pace) / all);
      before = now;
      if (this.at < until) return true;
      this.playing = false;
      done();
      return false;
    });
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
  }

  run(next) {
    let begin;
    const tick = (now) => {
      begin ??= now;
      const on = next(now - begin);
      this.show();
      if (on) this.frame = requestAnimationFrame(tick);
    };
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(tick);
  }
}
const SLOWEST = 100; // milliseconds after which the next picture goes on from where the last one was: a tab wakes up
