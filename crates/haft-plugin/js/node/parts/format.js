// `util.format`: the placeholders of printf that Node knows; what is left over follows after a blank.
import { inspect } from "haft:node/parts/inspect";

function asText(options, value) {
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return String(value);
  const own =
    value.toString !== Object.prototype.toString &&
    value.toString !== Array.prototype.toString &&
    typeof value.toString === "function";
  if (
    own &&
    !(value instanceof Date) &&
    (value instanceof Error ||
      Object.getPrototypeOf(value) !== Object.prototype ||
      Object.hasOwn(value, "toString"))
  )
    return String(value);
  return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
}

function asJson(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (/circular/i.test(error.message)) return "[Circular]";
    throw error;
  }
}

const asNumber = (value, convert) =>
  typeof value === "bigint"
    ? `${value}n`
    : typeof value === "symbol"
      ? "NaN"
      : Object.is(convert(value), -0)
        ? "-0"
        : `${convert(value)}`;

export function formatWithOptions(options, ...args) {
  const [first, ...rest] = args;
  if (typeof first !== "string")
    return args.map((arg) => (typeof arg === "string" ? arg : inspect(arg, options))).join(" ");
  if (rest.length === 0) return first;
  let used = 0;
  const text = first.replace(/%([sdifjoOc%])/g, (whole, kind) => {
    if (kind === "%") return "%";
    if (used >= rest.length) return whole;
    const value = rest[used++];
    switch (kind) {
      case "s":
        return asText(options, value);
      case "d":
        return asNumber(value, (v) => (typeof v === "object" && v !== null ? NaN : Number(v)));
      case "i":
        return asNumber(value, (v) => (typeof v === "object" ? NaN : parseInt(v)));
      case "f":
        return typeof value === "symbol" ? "NaN" : asNumber(value, parseFloat);
      case "j":
        return asJson(value);
      case "o":
        return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
      case "O":
        return inspect(value, options);
      default:
        return "";
    }
  });
  return [
    text,
    ...rest.slice(used).map((arg) => (typeof arg === "string" ? arg : inspect(arg, options))),
  ].join(" ");
}

export const format = (...args) => formatWithOptions({}, ...args);
