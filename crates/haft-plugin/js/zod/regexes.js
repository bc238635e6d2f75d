// The patterns of the string formats. They are part of the JSON Schema a model is shown, so they must read
// exactly as zod's do; each is put together when asked for, because a tool uses one or two of them and pays
// for the rest.

const HEX = "[0-9a-fA-F]";
const whole = (body) => new RegExp(`^${body}$`);
// Regular expressions that are written as such would be compiled at every start.
const later =
  ({ raw: [source] }) =>
  () =>
    new RegExp(source);

export const hex = () => whole(`${HEX}*`);
export const guid = () => whole(`(${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12})`);
export function uuid(version) {
  const body = (digit) => `${HEX}{8}-${HEX}{4}-${digit}${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}`;
  if (version) return whole(`(${body(version)})`);
  const same = (digit) => [8, 4, 4, 4, 12].map((count) => digit.repeat(count)).join("-");
  return whole(`(${body("[1-8]")}|${same("0")}|${same("f")})`);
}
export const cuid = later`^[cC][^\s-]{8,}$`;
export const cuid2 = later`^[0-9a-z]+$`;
export const ulid = later`^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$`;
export const xid = later`^[0-9a-vA-V]{20}$`;
export const ksuid = later`^[A-Za-z0-9]{27}$`;
export const nanoid = later`^[a-zA-Z0-9_-]{21}$`;
export const email = later`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`;
export const emoji = () => new RegExp("^(\\p{Extended_Pictographic}|\\p{Emoji_Component})+$", "u");

const OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])";
export const ipv4 = () => whole(`(?:(?:${OCTET.slice(1, -1)})\\.){3}(?:${OCTET.slice(1, -1)})`);
export const cidrv4 = () => whole(`(${OCTET}\\.){3}${OCTET}\\/([0-9]|[1-2][0-9]|3[0-2])`);
export function ipv6() {
  const group = `${HEX}{1,4}`;
  const many = (count) => `(${group}:){1,${count}}`;
  const forms = [`(${group}:){7}${group}`, `${many(7)}:`, `${many(6)}:${group}`];
  for (let left = 5; left > 1; left--) forms.push(`${many(left)}(:${group}){1,${7 - left}}`);
  forms.push(`${group}:((:${group}){1,6})`, `:((:${group}){1,7}|:)`);
  return whole(`(${forms.join("|")})`);
}
export function cidrv6() {
  const group = `${HEX}{1,4}`;
  return whole(
    `((${group}:){7}${group}|::|(${group})?::(${group}:?){0,6})\\/(12[0-8]|1[01][0-9]|[1-9]?[0-9])`,
  );
}
export function mac({ delimiter = ":" } = {}) {
  const between = escape(delimiter);
  const pairs = (digit) => `^(?:[0-9${digit}]{2}${between}){5}[0-9${digit}]{2}$`;
  return new RegExp(`${pairs("A-F")}|${pairs("a-f")}`);
}
export const base64 = () => {
  const sign = "[0-9a-zA-Z+/]";
  return new RegExp(`^$|^(?:${sign}{4})*(?:(?:${sign}{2}==)|(?:${sign}{3}=))?$`);
};
export const base64url = later`^[A-Za-z0-9_-]*$`;
export const e164 = later`^\+(?:[0-9]){6,14}[0-9]$`;

const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
export const domain = () => whole(`(${LABEL}\\.)+[a-zA-Z]{2,}`);
export const hostname = () =>
  whole(`(?=.{1,253}\\.?$)${LABEL}(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?`);

const LEAP_DAY = "(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29";
const LONG_MONTH = "(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])";
const SHORT_MONTH = "(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)";
const DATE = `(?:${LEAP_DAY}|\\d{4}-(?:${LONG_MONTH}|${SHORT_MONTH}|(?:02)-(?:0[1-9]|1\\d|2[0-8])))`;
function clock({ precision }) {
  const minutes = "(?:[01]\\d|2[0-3]):[0-5]\\d";
  if (precision === -1) return minutes;
  if (precision === 0) return `${minutes}:[0-5]\\d`;
  if (typeof precision === "number") return `${minutes}:[0-5]\\d\\.\\d{${precision}}`;
  return `${minutes}(?::[0-5]\\d(?:\\.\\d+)?)?`;
}
export const date = () => whole(DATE);
export const time = (options = {}) => whole(clock(options));
export function datetime(options = {}) {
  const zones = ["Z"];
  if (options.local) zones.push("");
  if (options.offset) zones.push("([+-](?:[01]\\d|2[0-3]):[0-5]\\d)");
  return whole(`${DATE}T(?:${clock(options)}(?:${zones.join("|")}))`);
}
export const duration = later`^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$`;

const HASH_BYTES = { md5: 16, sha1: 20, sha256: 32, sha384: 48, sha512: 64 };
export function hash(name) {
  const [algorithm, encoding] = name.split("_");
  const bytes = HASH_BYTES[algorithm];
  if (!bytes) throw new Error(`Unrecognized hash format: ${name}`);
  if (encoding === "hex") return whole(`${HEX}{${bytes * 2}}`);
  const signs = Math.ceil((bytes * 4) / 3);
  if (encoding === "base64url") return whole(`[A-Za-z0-9_-]{${signs}}`);
  return whole(`[A-Za-z0-9+/]{${signs}}${"=".repeat((4 - (signs % 4)) % 4)}`);
}

// The patterns a value has inside a template literal.
export const integer = later`^-?\d+$`;
export const number = later`^-?\d+(?:\.\d+)?`;
export const bigint = later`^-?\d+n?$`;
export const boolean = () => nothing("(?:true|false)");
export const nothing = (word) => new RegExp(`^${word}$`, "i");
export const string = ({ minimum = 0, maximum = "" } = {}) => whole(`[\\s\\S]{${minimum},${maximum}}`);
export const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** A pattern without its anchors, to stand inside another. */
export const inner = (pattern) => pattern.source.replace(/^\^/, "").replace(/\$$/, "");
