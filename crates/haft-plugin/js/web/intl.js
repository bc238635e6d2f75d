// A small `Intl`, in English only, for an engine that has none: what libraries ask for at load (segments, a
// time zone, numbers with separators). Other locales are accepted and get the same; calendars and time zones
// other than UTC and the host's are not known.
import { internal } from "haft:ops";

const LOCALE = "en-US";
const resolved = (more = {}) => ({ locale: LOCALE, ...more });
const supported = (locales) => (locales === undefined ? [] : [locales].flat());

// A grapheme: a base with its marks, joined emoji, or a pair of regional letters.
const GRAPHEME =
  /\r\n|\p{RI}\p{RI}|\p{Extended_Pictographic}(?:\p{EMod}|\ufe0f)?\p{M}*(?:\u200d\p{Extended_Pictographic}(?:\p{EMod}|\ufe0f)?\p{M}*)*|[\s\S][\p{M}\u200d\ufe0f]*/gu;
const PIECES = {
  grapheme: GRAPHEME,
  word: /[\p{L}\p{N}_'’]+|\s+|[\s\S]/gu,
  sentence: /[^.!?]+[.!?]*\s*|[.!?]+\s*/gu,
};

export class Segmenter {
  #granularity;
  constructor(_, { granularity = "grapheme" } = {}) {
    if (!PIECES[granularity])
      throw new RangeError(
        `Value ${granularity} out of range for Intl.Segmenter options property granularity`,
      );
    this.#granularity = granularity;
  }
  segment(input) {
    const granularity = this.#granularity;
    const text = String(input);
    const all = function* () {
      for (const { 0: segment, index } of text.matchAll(PIECES[granularity])) {
        yield {
          segment,
          index,
          input: text,
          ...(granularity === "word" ? { isWordLike: /[\p{L}\p{N}]/u.test(segment) } : {}),
        };
      }
    };
    return { [Symbol.iterator]: all, containing: (at) => [...all()].findLast(({ index }) => index <= at) };
  }
  resolvedOptions() {
    return resolved({ granularity: this.#granularity });
  }
}

export class NumberFormat {
  #options;
  constructor(_, options = {}) {
    this.#options = options;
    this.format = (value) => this.#text(value);
  }
  #text(value) {
    const {
      style,
      currency,
      unit,
      notation,
      useGrouping = true,
      minimumFractionDigits,
      maximumFractionDigits,
      minimumIntegerDigits = 1,
    } = this.#options;
    let number = Number(value);
    let suffix = "";
    if (style === "percent") [number, suffix] = [number * 100, "%"];
    if (style === "unit") suffix = ` ${unit}`;
    if (notation === "compact") {
      const step = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.abs(number) || 1) / 3)));
      [number, suffix] = [number / 1000 ** step, ["", "K", "M", "B", "T"][step] + suffix];
    }
    if (!Number.isFinite(number)) return Number.isNaN(number) ? "NaN" : `${number < 0 ? "-" : ""}∞`;
    const compact = notation === "compact" && Math.abs(number) < 100 ? 1 : 0;
    const least = minimumFractionDigits ?? (style === "currency" ? 2 : 0);
    const most = Math.max(
      least,
      maximumFractionDigits ??
        (style === "currency" ? 2 : style === "percent" ? 0 : notation === "compact" ? compact : 3),
    );
    let [whole, fraction = ""] = Math.abs(number).toFixed(most).split(".");
    while (fraction.length > least && fraction.endsWith("0")) fraction = fraction.slice(0, -1);
    whole = whole.padStart(minimumIntegerDigits, "0");
    if (useGrouping) whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    const symbol =
      style === "currency" ? ({ USD: "$", EUR: "€", GBP: "£", JPY: "¥" }[currency] ?? `${currency} `) : "";
    return `${number < 0 ? "-" : ""}${symbol}${whole}${fraction && `.${fraction}`}${suffix}`;
  }
  formatToParts(value) {
    return [{ type: "literal", value: this.format(value) }];
  }
  resolvedOptions() {
    return resolved({ numberingSystem: "latn", style: "decimal", ...this.#options });
  }
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const two = (value, kind) => (kind === "2-digit" ? String(value).padStart(2, "0").slice(-2) : String(value));
const named = (list, at, kind) =>
  kind === "short" ? list[at].slice(0, 3) : kind === "narrow" ? list[at][0] : list[at];

export class DateTimeFormat {
  #options;
  #zone;
  constructor(_, options = {}) {
    this.#zone = options.timeZone ?? internal("node/process").default.env.TZ ?? "UTC";
    const { dateStyle, timeStyle } = options;
    const asked = ["weekday", "year", "month", "day", "hour", "minute", "second"].some((key) => options[key]);
    this.#options = {
      ...(!asked && !timeStyle
        ? {
            year: "numeric",
            month:
              dateStyle === "long" || dateStyle === "full"
                ? "long"
                : dateStyle === "medium"
                  ? "short"
                  : "numeric",
            day: "numeric",
          }
        : {}),
      ...(timeStyle
        ? { hour: "numeric", minute: "2-digit", ...(timeStyle === "short" ? {} : { second: "2-digit" }) }
        : {}),
      ...options,
    };
    this.format = (date) => this.#text(date === undefined ? new Date() : new Date(date));
  }
  #text(date) {
    if (Number.isNaN(date.getTime())) throw new RangeError("Invalid time value");
    const utc = /^(UTC|GMT|Etc\/UTC)$/i.test(this.#zone) ? "UTC" : "";
    const get = (part) => date[`get${utc}${part}`]();
    const { weekday, year, month, day, hour, minute, second, hour12 = true } = this.#options;
    const numeric = month === "numeric" || month === "2-digit";
    const monthText = !month
      ? ""
      : numeric
        ? two(get("Month") + 1, month)
        : named(MONTHS, get("Month"), month);
    const [d, y] = [day ? two(get("Date"), day) : "", year ? two(get("FullYear"), year) : ""];
    const calendar = numeric
      ? [monthText, d, y].filter(Boolean).join("/")
      : [[monthText, d].filter(Boolean).join(" "), y].filter(Boolean).join(monthText && d ? ", " : " ");
    const h = hour12 ? get("Hours") % 12 || 12 : get("Hours");
    const clock = [
      hour && (hour12 ? two(h, hour) : String(h).padStart(2, "0")),
      minute && String(get("Minutes")).padStart(2, "0"),
      second && String(get("Seconds")).padStart(2, "0"),
    ]
      .filter(Boolean)
      .join(":");
    const shown = clock && hour && hour12 ? `${clock} ${get("Hours") < 12 ? "AM" : "PM"}` : clock;
    return [weekday && named(DAYS, get("Day"), weekday), calendar, shown].filter(Boolean).join(", ");
  }
  formatToParts(date) {
    return [{ type: "literal", value: this.format(date) }];
  }
  resolvedOptions() {
    return resolved({ calendar: "gregory", numberingSystem: "latn", timeZone: this.#zone, ...this.#options });
  }
}

export class Collator {
  constructor(_, { numeric = false, sensitivity = "variant" } = {}) {
    const fold = (text) => {
      const plain = String(text).normalize("NFD");
      return sensitivity === "base" || sensitivity === "accent" ? plain.toLowerCase() : plain;
    };
    const bare = (text) =>
      sensitivity === "base" || sensitivity === "case" ? fold(text).replace(/\p{M}/gu, "") : fold(text);
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    this.compare = (a, b) => {
      const [x, y] = [bare(a), bare(b)];
      if (!numeric) return order(x.toLowerCase(), y.toLowerCase()) || order(y, x);
      const [p, q] = [x, y].map((text) => text.match(/\d+|\D+/g) ?? []);
      for (let i = 0; i < Math.min(p.length, q.length); i++) {
        const result = /^\d/.test(p[i]) && /^\d/.test(q[i]) ? Math.sign(p[i] - q[i]) : order(p[i], q[i]);
        if (result) return result;
      }
      return Math.sign(p.length - q.length);
    };
  }
  resolvedOptions() {
    return resolved({ usage: "sort" });
  }
}

export class PluralRules {
  #ordinal;
  constructor(_, { type } = {}) {
    this.#ordinal = type === "ordinal";
  }
  select(n) {
    if (!this.#ordinal) return n === 1 ? "one" : "other";
    const [one, ten] = [n % 10, n % 100];
    return one === 1 && ten !== 11
      ? "one"
      : one === 2 && ten !== 12
        ? "two"
        : one === 3 && ten !== 13
          ? "few"
          : "other";
  }
  resolvedOptions() {
    return resolved();
  }
}

export class ListFormat {
  #word;
  constructor(_, { type = "conjunction" } = {}) {
    this.#word = type === "disjunction" ? "or" : "and";
  }
  format(items) {
    const list = [...items];
    const last = list.pop() ?? "";
    return list.length === 0
      ? last
      : list.length === 1
        ? `${list[0]} ${this.#word} ${last}`
        : `${list.join(", ")}, ${this.#word} ${last}`;
  }
}

export class RelativeTimeFormat {
  #auto;
  constructor(_, { numeric = "always" } = {}) {
    this.#auto = numeric === "auto";
  }
  format(value, unit) {
    const name = String(unit).replace(/s$/, "");
    if (this.#auto && name === "day" && [-1, 0, 1].includes(value))
      return ["yesterday", "today", "tomorrow"][value + 1];
    const size = Math.abs(value);
    const amount = `${new NumberFormat().format(size)} ${name}${size === 1 ? "" : "s"}`;
    return value < 0 || Object.is(value, -0) ? `${amount} ago` : `in ${amount}`;
  }
}

for (const kind of [
  Collator,
  DateTimeFormat,
  ListFormat,
  NumberFormat,
  PluralRules,
  RelativeTimeFormat,
  Segmenter,
])
  kind.supportedLocalesOf = supported;
// These three may be called without `new`.
const callable = (Kind) => new Proxy(Kind, { apply: (_, self, args) => new Kind(...args) });
export const Intl = {
  Collator: callable(Collator),
  DateTimeFormat: callable(DateTimeFormat),
  ListFormat,
  NumberFormat: callable(NumberFormat),
  PluralRules,
  RelativeTimeFormat,
  Segmenter,
  getCanonicalLocales: supported,
  supportedValuesOf: () => [],
};
