// Our `Intl` where the engine has none; on Node these say that its English answers are the same.
import diagnostics from "node:diagnostics_channel";
import { same } from "../lib.mjs";

const number = (value, options) => new Intl.NumberFormat("en-US", options).format(value);
const date = (options) => new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options }).format(new Date(Date.UTC(2024, 2, 5, 14, 7, 9)));

export default [
  ["Segmenter", () => same([...new Intl.Segmenter("en").segment("a👍🏽e\u0301🇩🇪👨‍👩‍👧")].map(({ segment }) => segment), ["a", "👍🏽", "e\u0301", "🇩🇪", "👨‍👩‍👧"])],
  ["Segmenter of words", () => same([...new Intl.Segmenter("en", { granularity: "word" }).segment("hi you")].filter((s) => s.isWordLike).map((s) => s.segment), ["hi", "you"])],
  ["NumberFormat", () => same([number(1234567.891), number(0.256, { style: "percent" }), number(5, { style: "currency", currency: "USD" }), number(1.5, { minimumFractionDigits: 2 }), number(1234, { notation: "compact" }), number(-1500)], ["1,234,567.891", "26%", "$5.00", "1.50", "1.2K", "-1,500"])],
  ["DateTimeFormat", () => same([date(), date({ year: "numeric", month: "long", day: "numeric" }), date({ dateStyle: "medium" }), date({ year: "numeric", month: "2-digit", day: "2-digit" }), date({ weekday: "short", month: "short", day: "numeric" })], ["3/5/2024", "March 5, 2024", "Mar 5, 2024", "03/05/2024", "Tue, Mar 5"])],
  ["the time zone", () => same(typeof Intl.DateTimeFormat().resolvedOptions().timeZone, "string")],
  ["Collator", () => same([["b", "a", "C"].sort(new Intl.Collator("en").compare), ["f10", "f2"].sort(new Intl.Collator("en", { numeric: true }).compare), new Intl.Collator("en", { sensitivity: "base" }).compare("á", "A")], [["a", "b", "C"], ["f2", "f10"], 0])],
  ["PluralRules, ListFormat, RelativeTimeFormat", () => same([new Intl.PluralRules("en").select(1), new Intl.PluralRules("en", { type: "ordinal" }).select(22), new Intl.ListFormat("en").format(["a", "b", "c"]), new Intl.RelativeTimeFormat("en").format(-2, "day"), new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(1, "day")], ["one", "two", "a, b, and c", "2 days ago", "tomorrow"])],
  ["diagnostics_channel", () => { const c = diagnostics.channel("x"); const seen = []; const f = (m) => seen.push(m); c.publish(0); diagnostics.subscribe("x", f); c.publish(1); same([c.hasSubscribers, diagnostics.unsubscribe("x", f), c.hasSubscribers, seen], [true, true, false, [1]]); }],
];
