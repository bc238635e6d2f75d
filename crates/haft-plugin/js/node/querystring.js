// `querystring`: the old way of query strings, without a leading question mark.
export const escape = (text) =>
  encodeURIComponent(String(text)).replace(/%(?:7E|21|27|28|29|2A)/gi, decodeURIComponent);

export function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return globalThis.unescape(text);
  }
}

const plain = (value) =>
  typeof value === "string"
    ? value
    : (typeof value === "number" && Number.isFinite(value)) ||
        typeof value === "bigint" ||
        typeof value === "boolean"
      ? `${value}`
      : "";

export function stringify(object, separator = "&", equals = "=", options = {}) {
  if (object === null || typeof object !== "object") return "";
  const encode = options.encodeURIComponent ?? querystring.escape;
  const pair = (key, value) => `${encode(plain(key))}${equals}${encode(plain(value))}`;
  return Object.keys(object)
    .flatMap((key) =>
      Array.isArray(object[key]) ? object[key].map((item) => pair(key, item)) : [pair(key, object[key])],
    )
    .join(separator);
}

export function parse(text, separator = "&", equals = "=", options = {}) {
  const out = Object.create(null);
  if (typeof text !== "string" || text === "") return out;
  const decode = options.decodeURIComponent ?? querystring.unescape;
  const most = options.maxKeys ?? 1000;
  const pieces = text.split(separator).filter(Boolean);
  for (const piece of most > 0 ? pieces.slice(0, most) : pieces) {
    const at = piece.indexOf(equals);
    const [key, value] = (at < 0 ? [piece, ""] : [piece.slice(0, at), piece.slice(at + equals.length)]).map(
      (part) => decode(part.replaceAll("+", " ")),
    );
    if (!(key in out)) out[key] = value;
    else if (Array.isArray(out[key])) out[key].push(value);
    else out[key] = [out[key], value];
  }
  return out;
}

export const encode = stringify;
export const decode = parse;
const querystring = { decode, encode, escape, parse, stringify, unescape };
export default querystring;
