// `util.inspect`: values as text, in Node's layout, because people read it and programs print it.
import { entriesOf, nameOf } from "haft:node/parts/inspect-kinds";
import { errorText } from "haft:node/parts/inspect-error";

const CUSTOM = Symbol.for("nodejs.util.inspect.custom");
const DEFAULTS = {
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
};
const COLORS = {
  special: 36,
  number: 33,
  bigint: 33,
  boolean: 33,
  undefined: 90,
  null: 1,
  string: 32,
  symbol: 32,
  date: 35,
  regexp: 31,
  module: 4,
};
const CONTROL = { 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };

export function quote(text) {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes("`") && !text.includes("${")) mark = "`";
  }
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0);
    if (CONTROL[code]) out += CONTROL[code];
    else if (char === mark) out += `\\${mark}`;
    else if (code < 32 || (code >= 127 && code <= 159))
      out += `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
    else if (code >= 0xd800 && code <= 0xdfff) out += `\\u${code.toString(16).toUpperCase()}`;
    else out += char;
  }
  return mark + out + mark;
}

function primitive(ctx, value) {
  const kind = value === null ? "null" : typeof value;
  if (kind === "string") return ctx.style(stringText(ctx, value), kind);
  if (kind === "number") return ctx.style(Object.is(value, -0) ? "-0" : `${value}`, kind);
  if (kind === "bigint") return ctx.style(`${value}n`, kind);
  return ctx.style(String(value), kind);
}

function stringText(ctx, value) {
  let tail = "";
  if (value.length > ctx.maxStringLength) {
    const left = value.length - ctx.maxStringLength;
    value = value.slice(0, ctx.maxStringLength);
    tail = `... ${left} more character${left > 1 ? "s" : ""}`;
  }
  if (ctx.compact !== true && value.length > 16 && value.length > ctx.breakLength - ctx.indent - 4) {
    return (
      value
        .split(/(?<=\n)/)
        .map(quote)
        .join(` +\n${" ".repeat(ctx.indent + 2)}`) + tail
    );
  }
  return quote(value) + tail;
}

export const plainLength = (ctx, text) => (ctx.colors ? text.replace(/\x1b\[\d+m/g, "").length : text.length);

// Many short entries stand in columns.
function columns(ctx, output, value, extra) {
  const count = output.length - extra;
  const lengths = output.slice(0, count).map((text) => plainLength(ctx, text));
  const total = lengths.reduce((sum, length) => sum + length + 2, 0);
  const widest = Math.max(...lengths) + 2;
  if (widest * 3 + ctx.indent >= ctx.breakLength || !(total / widest > 5 || widest <= 8)) return output;
  const biased = Math.max(widest - 3 - Math.sqrt(widest - total / output.length), 1);
  const wide = Math.min(
    Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((ctx.breakLength - ctx.indent) / widest),
    ctx.compact * 4,
    15,
  );
  if (wide <= 1) return output;
  const widths = Array.from({ length: wide }, (_, column) => {
    let most = 0;
    for (let i = column; i < count; i += wide) most = Math.max(most, lengths[i]);
    return most + 2;
  });
  const rightAligned =
    value !== undefined &&
    Array.prototype.every.call(value, (item) => typeof item === "number" || typeof item === "bigint");
  const rows = [];
  for (let i = 0; i < count; i += wide) {
    const end = Math.min(i + wide, count);
    let row = "";
    for (let j = i; j < end; j++) {
      const last = j === end - 1;
      const text = last ? output[j] : `${output[j]}, `;
      const width = widths[j - i] + output[j].length - lengths[j] - (last ? 2 : 0);
      row += rightAligned ? text.padStart(width) : last ? text : text.padEnd(width);
    }
    rows.push(row);
  }
  return extra ? [...rows, output[count]] : rows;
}

function joinEntries(ctx, output, prefix, braces, depth, list) {
  const base = prefix ? `${prefix} ` : "";
  if (ctx.compact === true) return `${base}${braces[0]} ${output.join(", ")} ${braces[1]}`;
  const count = output.length;
  if (list && count > 6 && typeof ctx.compact === "number")
    output = columns(ctx, output, list.value, list.extra);
  if (typeof ctx.compact === "number" && ctx.deepest - depth < ctx.compact && count === output.length) {
    const start = output.length + ctx.indent + braces[0].length + prefix.length + 10;
    const total = output.reduce((sum, text) => sum + plainLength(ctx, text), output.length + start);
    const joined = output.join(", ");
    if (total <= ctx.breakLength && !prefix.includes("\n") && !joined.includes("\n"))
      return `${base}${braces[0]} ${joined} ${braces[1]}`;
  }
  const newline = `\n${" ".repeat(ctx.indent)}`;
  return `${base}${braces[0]}${newline}  ${output.join(`,${newline}  `)}${newline}${braces[1]}`;
}

function customText(ctx, value, depth) {
  const custom = value[CUSTOM];
  if (typeof custom !== "function" || custom === inspect || value.constructor?.prototype === value)
    return undefined;
  const left = ctx.depth === null ? null : ctx.depth - depth;
  const { style, seen, circular, indent, deepest, ...options } = ctx;
  const made = custom.call(value, left, { ...options, stylize: style }, inspect);
  if (made === value) return undefined;
  return typeof made === "object" && made !== null
    ? show(ctx, made, depth)
    : String(made).replaceAll("\n", `\n${" ".repeat(ctx.indent)}`);
}

export function show(ctx, value, depth) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return primitive(ctx, value);
  if (ctx.customInspect) {
    const text = customText(ctx, value, depth);
    if (text !== undefined) return text;
  }
  if (ctx.seen.includes(value)) {
    if (!ctx.circular.has(value)) ctx.circular.set(value, ctx.circular.size + 1);
    return ctx.style(`[Circular *${ctx.circular.get(value)}]`, "special");
  }
  return showObject(ctx, value, depth);
}

function showObject(ctx, value, depth) {
  const tools = { ctx, depth, show, property };
  const error =
    value instanceof Error || Object.prototype.toString.call(value) === "[object Error]"
      ? errorText(tools, value)
      : undefined;
  const { prefix, braces, list, render, bare } = entriesOf(tools, value, error);
  if (depth > ctx.depth && !bareOnly(list, bare, value)) {
    return ctx.style(
      Array.isArray(value) ? "[Array]" : `[${nameOf(value) ?? "Object: null prototype"}]`,
      "special",
    );
  }
  const before = ctx.deepest;
  ctx.seen.push(value);
  ctx.deepest = depth;
  const output = render();
  ctx.seen.pop();
  if (output.length === 0) ctx.deepest = before;
  if (ctx.sorted) output.sort(typeof ctx.sorted === "function" ? ctx.sorted : undefined);
  const reference = ctx.circular.has(value) ? `<ref *${ctx.circular.get(value)}>` : "";
  if (output.length === 0 && bare !== undefined) return reference ? `${reference} ${bare}` : bare;
  if (list && output.length === 0)
    return `${reference && `${reference} `}${prefix && `${prefix} `}${braces[0]}${braces[1]}`;
  return joinEntries(ctx, output, [reference, prefix].filter(Boolean).join(" "), braces, depth, list);
}

// Too deep to open, but nothing to open either: empty ones, functions, dates and the like show themselves.
const bareOnly = (list, bare, value) =>
  list
    ? Object.keys(value).length === 0
    : (bare !== undefined && !bare.endsWith("{}")) || (Object.keys(value).length === 0 && !(value.size > 0));

export function property(ctx, owner, key, depth, kind) {
  const found = Object.getOwnPropertyDescriptor(owner, key) ?? { value: owner[key], enumerable: true };
  let text;
  if (found.get) text = ctx.style(found.set ? "[Getter/Setter]" : "[Getter]", "special");
  else if (found.set) text = ctx.style("[Setter]", "special");
  else {
    const step = ctx.compact === 3 || kind === "item" ? 2 : 3;
    ctx.indent += step;
    text = show(ctx, found.value, depth + 1);
    ctx.indent -= step;
  }
  if (kind === "item") return text;
  const name =
    typeof key === "symbol"
      ? ctx.style(`[${String(key)}]`, "symbol")
      : /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)
        ? key
        : ctx.style(quote(key), "string");
  return `${found.enumerable ? name : `[${String(key)}]`}: ${text}`;
}

export function inspect(value, options, depth, colors) {
  const given = typeof options === "boolean" ? { showHidden: options, depth, colors } : (options ?? {});
  const ctx = {
    ...DEFAULTS,
    ...inspect.defaultOptions,
    seen: [],
    circular: new Map(),
    indent: 0,
    deepest: 0,
  };
  for (const key in given) if (given[key] !== undefined) ctx[key] = given[key];
  for (const key of ["maxArrayLength", "maxStringLength", "depth"])
    if (ctx[key] === null) ctx[key] = Infinity;
  ctx.style = ctx.colors
    ? (text, kind) =>
        COLORS[kind]
          ? `\x1b[${COLORS[kind]}m${text}\x1b[${kind === "null" ? 22 : kind === "module" ? 24 : 39}m`
          : text
    : (text) => text;
  return show(ctx, value, 0);
}
inspect.custom = CUSTOM;
inspect.defaultOptions = {};
inspect.colors = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  white: [37, 39],
  gray: [90, 39],
  grey: [90, 39],
};
inspect.styles = {};
