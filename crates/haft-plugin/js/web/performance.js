// `performance`: the clock, marks and measures; no observers of the engine's own work.
import { hrtime, now } from "haft:ops";

const origin = hrtime();
let entries = [];
const record = (entryType, name, startTime, duration, detail = null) => {
  const entry = {
    name,
    entryType,
    startTime,
    duration,
    detail,
    toJSON() {
      return { ...this, toJSON: undefined };
    },
  };
  entries.push(entry);
  return entry;
};
const timeOf = (mark) => {
  if (typeof mark === "number") return mark;
  const found = entries.findLast((entry) => entry.entryType === "mark" && entry.name === mark);
  if (!found) throw new SyntaxError(`The "${mark}" performance mark has not been set`);
  return found.startTime;
};

export const performance = {
  timeOrigin: now(),
  now: () => hrtime() - origin,
  mark: (name, { startTime = hrtime() - origin, detail } = {}) =>
    record("mark", String(name), startTime, 0, detail),
  measure(name, start, end) {
    const {
      start: from,
      end: to,
      duration,
      detail,
    } = typeof start === "object" && start ? start : { start, end };
    const begin = from === undefined ? 0 : timeOf(from);
    const stop =
      to !== undefined ? timeOf(to) : duration !== undefined ? begin + duration : hrtime() - origin;
    return record("measure", String(name), begin, stop - begin, detail);
  },
  clearMarks: (name) =>
    void (entries = entries.filter((e) => e.entryType !== "mark" || (name !== undefined && e.name !== name))),
  clearMeasures: (name) =>
    void (entries = entries.filter(
      (e) => e.entryType !== "measure" || (name !== undefined && e.name !== name),
    )),
  getEntries: () => [...entries],
  getEntriesByName: (name, type) => entries.filter((e) => e.name === name && (!type || e.entryType === type)),
  getEntriesByType: (type) => entries.filter((e) => e.entryType === type),
  toJSON: () => ({ timeOrigin: performance.timeOrigin }),
  get [Symbol.toStringTag]() {
    return "Performance";
  },
};
