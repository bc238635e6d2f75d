// Schemas for single values other than text: numbers, dates, fixed values, and the ones that take anything or nothing.
import * as checks from "./checks.js";
import * as regexes from "./regexes.js";
import { string } from "./text.js";
import { addChecks, definition, ZodType } from "./type.js";

/** Tries a conversion; a value it cannot convert is left alone and fails its type test. */
function tryAs(payload, convert) {
  try {
    payload.value = convert(payload.value);
  } catch {
    // Reported by the type test that follows.
  }
}

class Numeric extends ZodType {
  get minValue() {
    const { minimum, exclusiveMinimum } = this._bag();
    return minimum ?? exclusiveMinimum ?? null;
  }
  get maxValue() {
    const { maximum, exclusiveMaximum } = this._bag();
    return maximum ?? exclusiveMaximum ?? null;
  }
  get format() {
    return this._bag().format ?? null;
  }
}
const BOUNDS = {
  gt: checks.gt, gte: checks.gte, min: checks.gte, lt: checks.lt, lte: checks.lte, max: checks.lte,
  multipleOf: checks.multipleOf,
};

export class ZodNumber extends Numeric {
  _parse(payload) {
    if (this.def.coerce) tryAs(payload, Number);
    const { value } = payload;
    if (typeof value === "number" && Number.isFinite(value)) return payload;
    const received = typeof value === "number" ? (Number.isNaN(value) ? "NaN" : "Infinity") : undefined;
    return this._fail(payload, { expected: "number", code: "invalid_type", ...(received && { received }) });
  }
  _pattern() {
    return this._bag().pattern ?? regexes.number();
  }
  get minValue() {
    const { minimum = -Infinity, exclusiveMinimum = -Infinity } = this._bag();
    return Math.max(minimum, exclusiveMinimum);
  }
  get maxValue() {
    const { maximum = Infinity, exclusiveMaximum = Infinity } = this._bag();
    return Math.min(maximum, exclusiveMaximum);
  }
  get isInt() {
    const { format = "", multipleOf = 0.5 } = this._bag();
    return format.includes("int") || Number.isSafeInteger(multipleOf);
  }
  get isFinite() {
    return true;
  }
  finite() {
    return this;
  }
}
const int = (params) => numberFormat("safeint", params);
addChecks(ZodNumber, {
  ...BOUNDS, step: checks.multipleOf, int, safe: int, positive: checks.positive, negative: checks.negative,
  nonnegative: checks.nonnegative, nonpositive: checks.nonpositive,
});

/** A number of a machine type; as with string formats, it is its own first check. */
export class ZodNumberFormat extends ZodNumber {
  _checks() {
    return (this._own ??= [this, ...(this.def.checks ?? [])]);
  }
  _check(payload) {
    const { format, abort } = this.def;
    const { value } = payload;
    const isInt = format.includes("int");
    const origin = isInt ? "int" : "number";
    const raise = (issue) => {
      this._fail(payload, issue).issues.at(-1).continue = !abort;
    };
    if (isInt && !Number.isInteger(value)) {
      this._fail(payload, { expected: origin, format, code: "invalid_type", continue: false });
      return;
    }
    if (isInt && !Number.isSafeInteger(value)) {
      const note = "Integers must be within the safe integer range.";
      if (value > 0) raise({ code: "too_big", maximum: Number.MAX_SAFE_INTEGER, note, origin });
      else raise({ code: "too_small", minimum: Number.MIN_SAFE_INTEGER, note, origin });
      return;
    }
    outOfRange(value, checks.NUMBER_RANGES[format], "number", raise);
  }
}
function outOfRange(value, [minimum, maximum], origin, raise) {
  if (value < minimum) raise({ origin, code: "too_small", minimum, inclusive: true });
  if (value > maximum) raise({ origin, code: "too_big", maximum });
}

export class ZodBigInt extends Numeric {
  _parse(payload) {
    if (this.def.coerce) tryAs(payload, BigInt);
    return typeof payload.value === "bigint" ? payload : this._wrongType(payload);
  }
  _pattern() {
    return regexes.bigint();
  }
}
addChecks(ZodBigInt, {
  ...BOUNDS,
  positive: (params) => checks.gt(0n, params),
  negative: (params) => checks.lt(0n, params),
  nonnegative: (params) => checks.gte(0n, params),
  nonpositive: (params) => checks.lte(0n, params),
});

export class ZodBigIntFormat extends ZodBigInt {
  _checks() {
    return (this._own ??= [this, ...(this.def.checks ?? [])]);
  }
  _check(payload) {
    outOfRange(payload.value, checks.BIGINT_RANGES[this.def.format], "bigint", (issue) => {
      this._fail(payload, issue).issues.at(-1).continue = !this.def.abort;
    });
  }
}

export class ZodBoolean extends ZodType {
  _parse(payload) {
    if (this.def.coerce) payload.value = Boolean(payload.value);
    return typeof payload.value === "boolean" ? payload : this._wrongType(payload);
  }
  _pattern() {
    return regexes.boolean();
  }
}

export class ZodDate extends Numeric {
  _parse(payload) {
    if (this.def.coerce) tryAs(payload, (value) => new Date(value));
    const { value } = payload;
    if (value instanceof Date && !Number.isNaN(value.getTime())) return payload;
    const received = value instanceof Date && { received: "Invalid Date" };
    return this._fail(payload, { expected: "date", code: "invalid_type", ...received });
  }
  get minDate() {
    const { minimum } = this._bag();
    return minimum ? new Date(minimum) : null;
  }
  get maxDate() {
    const { maximum } = this._bag();
    return maximum ? new Date(maximum) : null;
  }
}
addChecks(ZodDate, { min: checks.gte, max: checks.lte });

export class ZodSymbol extends ZodType {
  _parse(payload) {
    return typeof payload.value === "symbol" ? payload : this._wrongType(payload);
  }
}
export class ZodUndefined extends ZodType {
  _parse(payload) {
    return payload.value === undefined ? payload : this._wrongType(payload);
  }
  _values() {
    return new Set([undefined]);
  }
  _optin() {
    return "optional";
  }
  _optout() {
    return "optional";
  }
  _pattern() {
    return regexes.nothing("undefined");
  }
}
export class ZodVoid extends ZodType {
  _parse(payload) {
    return payload.value === undefined ? payload : this._wrongType(payload);
  }
}
export class ZodNull extends ZodType {
  _parse(payload) {
    return payload.value === null ? payload : this._wrongType(payload);
  }
  _values() {
    return new Set([null]);
  }
  _pattern() {
    return regexes.nothing("null");
  }
}
export class ZodAny extends ZodType {}
export class ZodUnknown extends ZodType {}
export class ZodNever extends ZodType {
  _parse(payload) {
    return this._wrongType(payload);
  }
}
export class ZodNaN extends ZodType {
  _parse(payload) {
    return Number.isNaN(payload.value) ? payload : this._wrongType(payload, "nan");
  }
}

/** The values of an enum. TypeScript's numeric enums also list their names by value; those are left out. */
function entryValues(entries) {
  const numbers = Object.values(entries).filter((value) => typeof value === "number");
  return Object.entries(entries).filter(([key]) => !numbers.includes(+key)).map(([, value]) => value);
}

const alternatives = (values) =>
  new RegExp(`^(${values.map((value) => regexes.escape(String(value))).join("|")})$`);

export class ZodEnum extends ZodType {
  constructor(def) {
    super(def);
    this.enum = def.entries;
    this.options = Object.values(def.entries);
  }
  _values() {
    return (this._set ??= new Set(entryValues(this.def.entries)));
  }
  _parse(payload) {
    const values = this._values();
    return values.has(payload.value) ? payload : this._fail(payload, { code: "invalid_value", values: [...values] });
  }
  _pattern() {
    return alternatives([...this._values()]);
  }
  #choose(entries, params) {
    return new ZodEnum(definition({ ...this.def, checks: [], entries }, params));
  }
  #known(key) {
    if (!Object.hasOwn(this.def.entries, key)) throw new Error(`Key ${key} not found in enum`);
  }
  extract(keys, params) {
    keys.forEach((key) => this.#known(key));
    return this.#choose(Object.fromEntries(keys.map((key) => [key, this.def.entries[key]])), params);
  }
  exclude(keys, params) {
    keys.forEach((key) => this.#known(key));
    return this.#choose(
      Object.fromEntries(Object.entries(this.def.entries).filter(([key]) => !keys.includes(key))), params);
  }
}

export class ZodLiteral extends ZodType {
  constructor(def) {
    if (!def.values.length) throw new Error("Cannot create literal schema with no valid values");
    super(def);
  }
  get values() {
    return this._values();
  }
  get value() {
    if (this.def.values.length > 1) {
      throw new Error("This schema contains multiple valid literal values. Use `.values` instead.");
    }
    return this.def.values[0];
  }
  _values() {
    return (this._set ??= new Set(this.def.values));
  }
  _parse(payload) {
    if (this._values().has(payload.value)) return payload;
    return this._fail(payload, { code: "invalid_value", values: this.def.values });
  }
  _pattern() {
    return alternatives(this.def.values);
  }
}

export class ZodFile extends ZodType {
  _parse(payload) {
    return typeof File !== "undefined" && payload.value instanceof File ? payload : this._wrongType(payload);
  }
}
addChecks(ZodFile, {
  min: checks.minSize, max: checks.maxSize,
  mime: (types, params) => checks.mime(Array.isArray(types) ? types : [types], params),
});

const maker = (Kind, type, extra) => (params) => new Kind(definition({ type, ...extra }, params));
function numberFormat(format, params) {
  const own = { type: "number", check: "number_format", abort: false, format };
  return new ZodNumberFormat(definition(own, params));
}
function bigintFormat(format, params) {
  const own = { type: "bigint", check: "bigint_format", abort: false, format };
  return new ZodBigIntFormat(definition(own, params));
}

export { int };
export const number = (params) => new ZodNumber(definition({ type: "number", checks: [] }, params));
export const float32 = (params) => numberFormat("float32", params);
export const float64 = (params) => numberFormat("float64", params);
export const int32 = (params) => numberFormat("int32", params);
export const uint32 = (params) => numberFormat("uint32", params);
export const int64 = (params) => bigintFormat("int64", params);
export const uint64 = (params) => bigintFormat("uint64", params);
export const bigint = maker(ZodBigInt, "bigint");
export const boolean = maker(ZodBoolean, "boolean");
export const date = maker(ZodDate, "date");
export const symbol = maker(ZodSymbol, "symbol");
export const nan = maker(ZodNaN, "nan");
export const any = maker(ZodAny, "any");
export const unknown = maker(ZodUnknown, "unknown");
export const never = maker(ZodNever, "never");
export const file = maker(ZodFile, "file");
const undefinedSchema = maker(ZodUndefined, "undefined");
const voidSchema = maker(ZodVoid, "void");
const nullSchema = maker(ZodNull, "null");
export { undefinedSchema as undefined, voidSchema as void, nullSchema as null };

export const literal = (value, params) =>
  new ZodLiteral(definition({ type: "literal", values: Array.isArray(value) ? value : [value] }, params));
export const nativeEnum = (entries, params) => new ZodEnum(definition({ type: "enum", entries }, params));
const enumSchema = (values, params) =>
  nativeEnum(Array.isArray(values) ? Object.fromEntries(values.map((value) => [value, value])) : values, params);
export { enumSchema as enum };

const coerced = (make) => (params) => {
  const schema = make(params);
  schema.def.coerce = true;
  return schema;
};
/** `z.coerce`. */
export const coerce = {
  string: coerced(string), number: coerced(number), boolean: coerced(boolean), bigint: coerced(bigint),
  date: coerced(date),
};
