// Checks: what a value must hold beyond its type, and what that means for a JSON Schema (the "bag"). A check
// says what it is in its definition only; everything else is read from there, so a check made by the zod
// package works here as well.
import { normalize } from "./issues.js";
import * as regexes from "./regexes.js";

function check(def, params, test) {
  def = { ...def, ...normalize(params) };
  const self = { _zod: { def, onattach: [] } };
  self._zod.check = (payload) => {
    const issue = test(payload, def);
    if (issue) payload.issues.push(issue);
    if (issue) Object.assign(issue, { input: payload.value, inst: self, continue: !def.abort });
  };
  return self;
}

function originOf(value) {
  if (typeof value === "object")
    return value instanceof Date ? "date" : Array.isArray(value) ? "array" : "unknown";
  return typeof value;
}

function below(value, inclusive, params) {
  return check({ check: "less_than", value, inclusive }, params, (payload) => {
    if (inclusive ? payload.value <= value : payload.value < value) return;
    return { origin: originOf(value), code: "too_big", maximum: value, inclusive };
  });
}
function above(value, inclusive, params) {
  return check({ check: "greater_than", value, inclusive }, params, (payload) => {
    if (inclusive ? payload.value >= value : payload.value > value) return;
    return { origin: originOf(value), code: "too_small", minimum: value, inclusive };
  });
}

const bound = (side, inclusive) => (value, params) => side(value, inclusive, params);
export const lt = bound(below, false);
export const lte = bound(below, true);
export const gt = bound(above, false);
export const gte = bound(above, true);
/** The four checks against zero, of a number or a bigint. */
export function signs(zero) {
  const against = (check) => (params) => check(zero, params);
  return {
    positive: against(gt),
    negative: against(lt),
    nonpositive: against(lte),
    nonnegative: against(gte),
  };
}
export const { positive, negative, nonpositive, nonnegative } = signs(0);

/** The remainder of decimals, free of binary noise: both sides are scaled to whole numbers first. */
function remainder(value, step) {
  const decimals = (number) => {
    const [digits, exponent = "0"] = `${number}`.split("e-");
    return (digits.split(".")[1] ?? "").length + Number(exponent);
  };
  const places = Math.max(decimals(value), decimals(step));
  const scaled = (number) => Number.parseInt(number.toFixed(places).replace(".", ""));
  return (scaled(value) % scaled(step)) / 10 ** places;
}

export function multipleOf(value, params) {
  return check({ check: "multiple_of", value }, params, (payload) => {
    if (typeof payload.value !== typeof value)
      throw new Error("Cannot mix number and bigint in multiple_of check.");
    const fits =
      typeof value === "bigint" ? payload.value % value === 0n : remainder(payload.value, value) === 0;
    return fits ? undefined : { origin: typeof payload.value, code: "not_multiple_of", divisor: value };
  });
}

// Length and size are also asked of values of the wrong type, as long as they have one: zod reports both.
const measured = (field) => (payload) => payload.value != null && payload.value[field] !== undefined;
function measurer(kind, field, origin) {
  const when = measured(field);
  const named = (name) => `${name}_${kind}`;
  return {
    max: (maximum, params) =>
      check({ check: named("max"), maximum, when }, params, ({ value }) =>
        value[field] <= maximum
          ? undefined
          : { origin: origin(value), code: "too_big", maximum, inclusive: true },
      ),
    min: (minimum, params) =>
      check({ check: named("min"), minimum, when }, params, ({ value }) =>
        value[field] >= minimum
          ? undefined
          : { origin: origin(value), code: "too_small", minimum, inclusive: true },
      ),
    exactly: (count, params) =>
      check({ check: `${kind}_equals`, [kind]: count, when }, params, ({ value }) => {
        if (value[field] === count) return;
        const bound =
          value[field] > count ? { code: "too_big", maximum: count } : { code: "too_small", minimum: count };
        return { origin: origin(value), ...bound, inclusive: true, exact: true };
      }),
  };
}
const lengths = measurer("length", "length", (value) =>
  Array.isArray(value) ? "array" : typeof value === "string" ? "string" : "unknown",
);
const sizes = measurer("size", "size", (value) => {
  if (value instanceof Set) return "set";
  if (value instanceof Map) return "map";
  return typeof File !== "undefined" && value instanceof File ? "file" : "unknown";
});
export const { min: minLength, max: maxLength, exactly: length } = lengths;
export const { min: minSize, max: maxSize, exactly: size } = sizes;

function text(format, extra, params, test) {
  return check({ check: "string_format", format, ...extra }, params, (payload, def) =>
    test(payload.value, def)
      ? undefined
      : { origin: "string", code: "invalid_format", format, ...shown(format, def) },
  );
}
// What the issue tells besides the format.
function shown(format, def) {
  if (format === "includes") return { includes: def.includes };
  if (format === "starts_with") return { prefix: def.prefix };
  if (format === "ends_with") return { suffix: def.suffix };
  return { pattern: String(def.pattern) };
}
const matches = (value, { pattern }) => {
  pattern.lastIndex = 0;
  return pattern.test(value);
};
export const regex = (pattern, params) => text("regex", { pattern }, params, matches);
export const lowercase = (params) => text("lowercase", { pattern: /^[^A-Z]*$/ }, params, matches);
export const uppercase = (params) => text("uppercase", { pattern: /^[^a-z]*$/ }, params, matches);
export function includes(part, params) {
  const position = typeof params === "object" ? params.position : undefined;
  const body = regexes.escape(part);
  const pattern = new RegExp(typeof position === "number" ? `^.{${position}}${body}` : body);
  return text("includes", { includes: part, pattern }, params, (value) => value.includes(part, position));
}
export const startsWith = (prefix, params) =>
  text("starts_with", { prefix, pattern: new RegExp(`^${regexes.escape(prefix)}.*`) }, params, (value) =>
    value.startsWith(prefix),
  );
export const endsWith = (suffix, params) =>
  text("ends_with", { suffix, pattern: new RegExp(`.*${regexes.escape(suffix)}$`) }, params, (value) =>
    value.endsWith(suffix),
  );

export const mime = (types, params) =>
  check({ check: "mime_type", mime: types }, params, (payload) =>
    types.includes(payload.value.type) ? undefined : { code: "invalid_value", values: types },
  );

export function property(name, schema, params) {
  const self = check({ check: "property", property: name, schema }, params, () => {});
  self._zod.check = (payload) => {
    const take = (result) => {
      for (const issue of result.issues) {
        (issue.path ??= []).unshift(name);
        payload.issues.push(issue);
      }
    };
    const result = schema._zod.run({ value: payload.value[name], issues: [] }, {});
    return result instanceof Promise ? result.then(take) : take(result);
  };
  return self;
}

export function overwrite(change) {
  const self = check({ check: "overwrite", tx: change }, undefined, () => {});
  self._zod.check = (payload) => void (payload.value = change(payload.value));
  return self;
}
const method =
  (name) =>
  (...args) =>
    overwrite((value) => value[name](...args));
export const trim = method("trim");
export const toLowerCase = method("toLowerCase");
export const toUpperCase = method("toUpperCase");
export const normalizeText = method("normalize");

/** Makes text fit for addresses: letters, digits and single hyphens. */
export const slugify = () =>
  overwrite((value) =>
    value
      .toLowerCase()
      .trim()
      .replace(/[^\w\s-]/g, "")
      .replace(/[\s_-]+/g, "-")
      .replace(/^-+|-+$/g, ""),
  );

const INT32 = [-2147483648, 2147483647];
export const NUMBER_RANGES = {
  safeint: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  int32: INT32,
  uint32: [0, 4294967295],
  float32: [-3.4028234663852886e38, 3.4028234663852886e38],
  float64: [-Number.MAX_VALUE, Number.MAX_VALUE],
};
export const BIGINT_RANGES = { int64: [-(2n ** 63n), 2n ** 63n - 1n], uint64: [0n, 2n ** 64n - 1n] };

const tighter = (bag, name, value, better) => {
  if (bag[name] === undefined || better(value, bag[name])) bag[name] = value;
};
const more = (a, b) => a > b;
const less = (a, b) => a < b;

/** What a list of checks says about the values that pass: bounds, format and patterns. */
export function bagOf(checks) {
  const bag = {};
  const range = ([low, high]) => {
    tighter(bag, "minimum", low, more);
    tighter(bag, "maximum", high, less);
  };
  for (const {
    _zod: { def },
  } of checks) {
    switch (def.check) {
      case "less_than":
        tighter(bag, def.inclusive ? "maximum" : "exclusiveMaximum", def.value, less);
        break;
      case "greater_than":
        tighter(bag, def.inclusive ? "minimum" : "exclusiveMinimum", def.value, more);
        break;
      case "multiple_of":
        bag.multipleOf ??= def.value;
        break;
      case "number_format":
        bag.format = def.format;
        range(NUMBER_RANGES[def.format]);
        if (def.format.includes("int")) bag.pattern = regexes.integer();
        break;
      case "bigint_format":
        bag.format = def.format;
        range(BIGINT_RANGES[def.format]);
        break;
      case "max_length":
      case "max_size":
        tighter(bag, "maximum", def.maximum, less);
        break;
      case "min_length":
      case "min_size":
        tighter(bag, "minimum", def.minimum, more);
        break;
      case "length_equals":
      case "size_equals":
        bag.minimum = bag.maximum = def.length ?? def.size;
        break;
      case "mime_type":
        bag.mime = def.mime;
        break;
      case "string_format":
        if (!/^(includes|starts_with|ends_with)$/.test(def.format)) bag.format = def.format;
        if (/^base64/.test(def.format)) bag.contentEncoding = def.format;
        if (def.pattern) (bag.patterns ??= new Set()).add(def.pattern);
    }
  }
  return bag;
}
