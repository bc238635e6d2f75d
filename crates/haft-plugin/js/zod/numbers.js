// Numbers of all kinds, and dates, which are ordered like them.
import * as checks from "./checks.js";
import * as regexes from "./regexes.js";
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
  gt: checks.gt,
  gte: checks.gte,
  min: checks.gte,
  lt: checks.lt,
  lte: checks.lte,
  max: checks.lte,
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
addChecks(ZodNumber, { ...BOUNDS, step: checks.multipleOf, int, safe: int, ...checks.signs(0) });

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
addChecks(ZodBigInt, { ...BOUNDS, ...checks.signs(0n) });

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
const formatted = (make, format) => (params) => make(format, params);
export const float32 = formatted(numberFormat, "float32");
export const float64 = formatted(numberFormat, "float64");
export const int32 = formatted(numberFormat, "int32");
export const uint32 = formatted(numberFormat, "uint32");
export const int64 = formatted(bigintFormat, "int64");
export const uint64 = formatted(bigintFormat, "uint64");
export const bigint = (params) => new ZodBigInt(definition({ type: "bigint" }, params));
export const date = (params) => new ZodDate(definition({ type: "date" }, params));
