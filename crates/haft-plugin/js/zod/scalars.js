// Single values other than text and numbers: fixed values, and the schemas that take anything or nothing.
import * as checks from "./checks.js";
import * as regexes from "./regexes.js";
import { addChecks, definition, mayBeAbsent, ZodType } from "./type.js";

export class ZodBoolean extends ZodType {
  _parse(payload) {
    if (this.def.coerce) payload.value = Boolean(payload.value);
    return typeof payload.value === "boolean" ? payload : this._wrongType(payload);
  }
  _pattern() {
    return regexes.boolean();
  }
}

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
  _pattern() {
    return regexes.nothing("undefined");
  }
}
mayBeAbsent(ZodUndefined, "_optin", "_optout");
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
  return Object.entries(entries)
    .filter(([key]) => !numbers.includes(+key))
    .map(([, value]) => value);
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
    return values.has(payload.value)
      ? payload
      : this._fail(payload, { code: "invalid_value", values: [...values] });
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
      Object.fromEntries(Object.entries(this.def.entries).filter(([key]) => !keys.includes(key))),
      params,
    );
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
  min: checks.minSize,
  max: checks.maxSize,
  mime: (types, params) => checks.mime(Array.isArray(types) ? types : [types], params),
});

const maker = (Kind, type) => (params) => new Kind(definition({ type }, params));
export const boolean = maker(ZodBoolean, "boolean");
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
  nativeEnum(
    Array.isArray(values) ? Object.fromEntries(values.map((value) => [value, value])) : values,
    params,
  );
export { enumSchema as enum };
