// Strings and their formats. A format is a schema (`z.email()`) and a check (`z.string().email()`) in one.
// What JavaScript engines answer with `URL` or `atob` is worked out here when they are missing.
import * as checks from "./checks.js";
import * as regexes from "./regexes.js";
import { addChecks, definition, ZodType } from "./type.js";

export class _ZodString extends ZodType {
  _parse(payload) {
    if (this.def.coerce) {
      try {
        payload.value = String(payload.value);
      } catch {
        // A value that refuses to become text is reported as what it is.
      }
    }
    return typeof payload.value === "string" ? payload : this._wrongType(payload);
  }
  _pattern() {
    const bag = this._bag();
    return bag.patterns ? [...bag.patterns].at(-1) : regexes.string(bag);
  }
  get format() {
    return this._bag().format ?? null;
  }
  get minLength() {
    return this._bag().minimum ?? null;
  }
  get maxLength() {
    return this._bag().maximum ?? null;
  }
  nonempty(params) {
    return this.min(1, params);
  }
}
const CHECKS = {
  regex: checks.regex,
  includes: checks.includes,
  startsWith: checks.startsWith,
  endsWith: checks.endsWith,
  min: checks.minLength,
  max: checks.maxLength,
  length: checks.length,
  lowercase: checks.lowercase,
  uppercase: checks.uppercase,
  trim: checks.trim,
  normalize: checks.normalizeText,
  toLowerCase: checks.toLowerCase,
  toUpperCase: checks.toUpperCase,
  slugify: checks.slugify,
};
addChecks(_ZodString, CHECKS);

export class ZodString extends _ZodString {}

export class ZodStringFormat extends _ZodString {
  // The format itself is the first check.
  _checks() {
    return (this._own ??= [this, ...(this.def.checks ?? [])]);
  }
  _check(payload) {
    const { def } = this;
    def.pattern.lastIndex = 0;
    if (!def.pattern.test(payload.value)) {
      this._invalid(payload, { origin: "string", pattern: String(def.pattern) });
    }
  }
  _invalid(payload, extra) {
    const { origin, ...rest } = extra ?? {};
    const issue = { ...(origin && { origin }), code: "invalid_format", format: this.def.format, ...rest };
    this._fail(payload, issue).issues.at(-1).continue = !this.def.abort;
  }
}

/** Parts of an absolute URL, or undefined. Without `URL` only the shape of it is looked at. */
function parseUrl(value) {
  if (typeof URL !== "undefined") {
    try {
      return new URL(value);
    } catch {
      return undefined;
    }
  }
  const found =
    /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^/?#@]*@)?(\[[^\]\s]+\]|[^/?#:\s]*)(?::\d*)?(?=[/?#]|$))?/i.exec(value);
  if (!found || /[\0-\x1f]/.test(value)) return undefined;
  const special = /^(?:https?|wss?|ftp)$/i.test(found[1]);
  if (special && (!found[2] || /[<>^|%]/.test(found[2]))) return undefined;
  return { protocol: `${found[1].toLowerCase()}:`, hostname: found[2] ?? "", href: value };
}

/** True for what stands between the brackets of a URL with an IPv6 host. */
function isIpv6(value) {
  let groups = value.split(":");
  const last = groups.at(-1);
  if (last.includes(".")) {
    if (!regexes.ipv4().test(last)) return false;
    groups = [...groups.slice(0, -1), "0", "0"];
  }
  const halves = groups.join(":").split("::");
  const ok = halves.every(
    (half) => half === "" || half.split(":").every((part) => /^[0-9a-f]{1,4}$/i.test(part)),
  );
  const count = halves.reduce((sum, half) => sum + (half ? half.split(":").length : 0), 0);
  return ok && (halves.length === 1 ? count === 8 : halves.length === 2 && count < 8);
}

const isBase64 = (value) => value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);
const unurl = (value) => value.replaceAll("-", "+").replaceAll("_", "/");
const padded = (value) => value.padEnd(Math.ceil(value.length / 4) * 4, "=");

function decodeBase64(value) {
  const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let text = "";
  let bits = 0;
  let held = 0;
  const digits = unurl(value).replace(/=+$/, "");
  if (digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) return "";
  for (const sign of digits) {
    held = ((held << 6) | signs.indexOf(sign)) & 0xfff;
    bits += 6;
    if (bits >= 8) text += String.fromCharCode((held >> (bits -= 8)) & 0xff);
  }
  return text;
}
function isJwt(token, algorithm) {
  const [header, body, signature, ...more] = token.split(".");
  if (!header || body === undefined || signature === undefined || more.length) return false;
  try {
    const parsed = JSON.parse(decodeBase64(header));
    if (parsed.typ !== undefined && parsed.typ !== "JWT") return false;
    return Boolean(parsed.alg) && (!algorithm || parsed.alg === algorithm);
  } catch {
    return false;
  }
}

/** A format known by its pattern, or by a test of its own (`test` gets the value and the definition). */
function format(name, pattern, test) {
  return class extends ZodStringFormat {
    constructor(def) {
      def.format ??= name;
      if (pattern) def.pattern ??= pattern(def);
      super(def);
    }
    _check(payload) {
      if (!test) super._check(payload);
      else if (!test(payload.value, this.def)) this._invalid(payload);
    }
  };
}

export const ZodEmail = format("email", regexes.email);
export const ZodGUID = format("guid", regexes.guid);
export const ZodUUID = format("uuid", ({ version }) => regexes.uuid(version && Number(version.slice(1))));
export const ZodEmoji = format("emoji", regexes.emoji);
export const ZodNanoID = format("nanoid", regexes.nanoid);
export const ZodCUID = format("cuid", regexes.cuid);
export const ZodCUID2 = format("cuid2", regexes.cuid2);
export const ZodULID = format("ulid", regexes.ulid);
export const ZodXID = format("xid", regexes.xid);
export const ZodKSUID = format("ksuid", regexes.ksuid);
export const ZodIPv4 = format("ipv4", regexes.ipv4);
export const ZodIPv6 = format("ipv6", regexes.ipv6, isIpv6);
export const ZodCIDRv4 = format("cidrv4", regexes.cidrv4);
export const ZodCIDRv6 = format("cidrv6", regexes.cidrv6, (value) => {
  const [address, bits, ...more] = value.split("/");
  return !more.length && /^(?:\d|[1-9]\d|1[01]\d|12[0-8])$/.test(bits) && isIpv6(address);
});
export const ZodMAC = format("mac", regexes.mac);
export const ZodBase64 = format("base64", regexes.base64, isBase64);
export const ZodBase64URL = format(
  "base64url",
  regexes.base64url,
  (value) => regexes.base64url().test(value) && value.length % 4 !== 1 && isBase64(padded(unurl(value))),
);
export const ZodE164 = format("e164", regexes.e164);
export const ZodJWT = format("jwt", undefined, (value, def) => isJwt(value, def.alg));
export const ZodISODateTime = format("datetime", regexes.datetime);
export const ZodISODate = format("date", regexes.date);
export const ZodISOTime = format("time", regexes.time);
export const ZodISODuration = format("duration", regexes.duration);

export class ZodURL extends format("url") {
  _check(payload) {
    const { hostname, protocol, normalize: rewrite } = this.def;
    const trimmed = payload.value.trim();
    const url = parseUrl(trimmed);
    if (!url) return this._invalid(payload);
    const part = (pattern, value, note, shown) => {
      if (!pattern) return;
      pattern.lastIndex = 0;
      if (!pattern.test(value)) this._invalid(payload, { note, pattern: shown.source });
    };
    // zod shows the general pattern of host names here, whatever the one that was asked for.
    part(hostname, url.hostname, "Invalid hostname", regexes.hostname());
    part(protocol, url.protocol.replace(/:$/, ""), "Invalid protocol", protocol);
    payload.value = rewrite ? url.href : trimmed;
  }
}

export class ZodCustomStringFormat extends ZodStringFormat {
  _check(payload) {
    if (!this.def.fn(payload.value)) this._invalid(payload);
  }
}

const maker = (Format, options) => (params) =>
  new Format(definition({ type: "string", check: "string_format", abort: false, ...options }, params));
export const string = (params) => new ZodString(definition({ type: "string" }, params));
export function stringFormat(name, test, params) {
  const fn = typeof test === "function" ? test : (value) => test.test(value);
  const pattern = test instanceof RegExp && { pattern: test };
  return new ZodCustomStringFormat(
    definition({ check: "string_format", type: "string", format: name, fn, ...pattern }, params),
  );
}
export const hex = (params) => stringFormat("hex", regexes.hex(), params);
export const hostname = (params) => stringFormat("hostname", regexes.hostname(), params);
export function hash(algorithm, params) {
  const name = `${algorithm}_${params?.enc ?? "hex"}`;
  return stringFormat(name, regexes.hash(name), params);
}
export const email = maker(ZodEmail);
export const url = maker(ZodURL);
export const httpUrl = (params) =>
  maker(ZodURL, { protocol: /^https?$/, hostname: regexes.domain() })(params);
export const guid = maker(ZodGUID);
export const uuid = maker(ZodUUID);
export const uuidv4 = maker(ZodUUID, { version: "v4" });
export const uuidv6 = maker(ZodUUID, { version: "v6" });
export const uuidv7 = maker(ZodUUID, { version: "v7" });
export const emoji = maker(ZodEmoji);
export const nanoid = maker(ZodNanoID);
export const cuid = maker(ZodCUID);
export const cuid2 = maker(ZodCUID2);
export const ulid = maker(ZodULID);
export const xid = maker(ZodXID);
export const ksuid = maker(ZodKSUID);
export const ipv4 = maker(ZodIPv4);
export const ipv6 = maker(ZodIPv6);
export const cidrv4 = maker(ZodCIDRv4);
export const cidrv6 = maker(ZodCIDRv6);
export const mac = maker(ZodMAC);
export const base64 = maker(ZodBase64);
export const base64url = maker(ZodBase64URL);
export const e164 = maker(ZodE164);
export const jwt = maker(ZodJWT);

/** `z.iso`. */
export const iso = {
  ZodISODate,
  ZodISODateTime,
  ZodISODuration,
  ZodISOTime,
  date: maker(ZodISODate),
  time: maker(ZodISOTime),
  datetime: maker(ZodISODateTime),
  duration: maker(ZodISODuration),
};

addChecks(ZodString, {
  email,
  url,
  guid,
  uuid,
  uuidv4,
  uuidv6,
  uuidv7,
  emoji,
  nanoid,
  cuid,
  cuid2,
  ulid,
  xid,
  ksuid,
  ipv4,
  ipv6,
  cidrv4,
  cidrv6,
  base64,
  base64url,
  e164,
  jwt,
  date: iso.date,
  time: iso.time,
  datetime: iso.datetime,
  duration: iso.duration,
});
