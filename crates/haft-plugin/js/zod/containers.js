// Schemas made of other schemas: objects, lists, records, maps, sets and the choices between schemas.
// Input is never trusted to be tame: results are built anew, and a key called `__proto__` is data or is dropped.
import * as checks from "./checks.js";
import { define, finish } from "./issues.js";
import * as scalars from "./scalars.js";
import { addChecks, adopt, definition, isObject, isPlain, wrap, ZodType } from "./type.js";

/** One pass over the parts of a value: collects issues and, if there are any, promises. */
class Pass {
  constructor(payload, ctx) {
    this.payload = payload;
    this.ctx = ctx;
    this.jobs = [];
  }
  /** Runs `schema` on a part and hands what came out to `keep`; `key` says where the part was, if that can be said. */
  part(schema, value, keep, key) {
    const result = schema._zod.run({ value, issues: [] }, this.ctx);
    if (result instanceof Promise) this.jobs.push(result.then((result) => this.take(result, keep, key)));
    else this.take(result, keep, key);
  }
  take(result, keep, key) {
    if (result.issues.length) adopt(this.payload, result.issues, key);
    keep(result.value);
  }
  end() {
    return this.jobs.length ? Promise.all(this.jobs).then(() => this.payload) : this.payload;
  }
}

export class ZodObject extends ZodType {
  get shape() {
    return this.def.shape;
  }
  /** The fields, read once: a shape's getters (recursive types) are called at the first parse, not before. */
  _fields() {
    if (this._known) return this._known;
    const { shape } = this.def;
    for (const [key, field] of Object.entries(shape)) {
      if (!field?._zod) throw new Error(`Invalid element at key "${key}": expected a Zod schema`);
    }
    return (this._known = { shape, keys: Object.keys(shape), set: new Set(Object.keys(shape)) });
  }
  _propValues() {
    const all = {};
    for (const [key, field] of Object.entries(this.def.shape)) {
      const values = field._zod.values;
      if (values) all[key] = new Set(values);
    }
    return all;
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!isObject(input)) return this._wrongType(payload);
    const { shape, keys, set } = this._fields();
    const result = (payload.value = {});
    const pass = new Pass(payload, ctx);
    const field = (schema, key) => {
      const keep = (value) => {
        if (value !== undefined || key in input) define(result, key, value);
      };
      pass.part(schema, input[key], keep, key);
    };
    for (const key of keys) field(shape[key], key);
    const { catchall } = this.def;
    if (catchall) {
      const unknown = [];
      for (const key of Object.keys(input)) {
        if (set.has(key)) continue;
        if (catchall._zod.def.type === "never") unknown.push(key);
        else if (key !== "__proto__") field(catchall, key);
      }
      if (unknown.length) {
        payload.issues.push({ code: "unrecognized_keys", keys: unknown, input, inst: this });
      }
    }
    return pass.end();
  }

  #with(changes) {
    return this.clone({ ...this.def, ...changes });
  }
  /** A copy with another shape; the shape is worked out when first read, so recursive getters stay lazy. */
  #reshape(shape, changes) {
    return this.clone(lazyShape({ ...withoutShape(this.def), ...changes }, shape));
  }
  keyof() {
    return scalars.enum(Object.keys(this.def.shape));
  }
  catchall(schema) {
    return this.#with({ catchall: schema });
  }
  strict() {
    return this.catchall(scalars.never());
  }
  loose() {
    return this.catchall(scalars.unknown());
  }
  passthrough() {
    return this.loose();
  }
  strip() {
    return this.#with({ catchall: undefined });
  }
  extend(shape) {
    if (!isPlain(shape)) throw new Error("Invalid input to extend: expected a plain object");
    if (this.def.checks?.length) {
      throw new Error("Object schemas containing refinements cannot be extended. Use `.safeExtend()` instead.");
    }
    return this.#reshape(() => joined(this.def.shape, shape), { checks: [] });
  }
  safeExtend(shape) {
    if (!isPlain(shape)) throw new Error("Invalid input to safeExtend: expected a plain object");
    return this.#reshape(() => joined(this.def.shape, shape));
  }
  merge(other) {
    return this.#reshape(() => joined(this.def.shape, other.def.shape), { catchall: other.def.catchall, checks: [] });
  }
  #chosen(mask) {
    const { shape } = this.def;
    if (!mask) return Object.keys(shape);
    for (const key in mask) if (!(key in shape)) throw new Error(`Unrecognized key: "${key}"`);
    return Object.keys(mask).filter((key) => mask[key]);
  }
  pick(mask) {
    return this.#reshape(() => Object.fromEntries(this.#chosen(mask).map((key) => [key, this.def.shape[key]])),
      { checks: [] });
  }
  omit(mask) {
    return this.#reshape(() => {
      const shape = { ...this.def.shape };
      for (const key of this.#chosen(mask)) delete shape[key];
      return shape;
    }, { checks: [] });
  }
  #each(mask, change) {
    return this.#reshape(() => {
      const shape = { ...this.def.shape };
      for (const key of this.#chosen(mask)) shape[key] = change(shape[key]);
      return shape;
    }, { checks: [] });
  }
  partial(mask) {
    return this.#each(mask, (field) => wrap.optional(field));
  }
  required(mask) {
    return this.#each(mask, (field) => wrap.nonoptional(field));
  }
}
/** Joins two shapes without calling their getters. */
function joined(first, second) {
  const describe = Object.getOwnPropertyDescriptors;
  return Object.defineProperties({}, { ...describe(first), ...describe(second) });
}
function withoutShape(def) {
  const rest = {};
  for (const key of Object.keys(def)) if (key !== "shape") rest[key] = def[key];
  return rest;
}
function lazyShape(def, make) {
  return Object.defineProperty(def, "shape", {
    get() {
      const value = make();
      Object.defineProperty(this, "shape", { value, enumerable: true, writable: true });
      return value;
    },
    enumerable: true,
    configurable: true,
  });
}

export class ZodArray extends ZodType {
  get element() {
    return this.def.element;
  }
  unwrap() {
    return this.def.element;
  }
  nonempty(params) {
    return this.min(1, params);
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!Array.isArray(input)) return this._wrongType(payload);
    const result = (payload.value = new Array(input.length));
    const pass = new Pass(payload, ctx);
    for (let i = 0; i < input.length; i++) pass.part(this.def.element, input[i], (item) => (result[i] = item), i);
    return pass.end();
  }
}
addChecks(ZodArray, { min: checks.minLength, max: checks.maxLength, length: checks.length });

export class ZodTuple extends ZodType {
  rest(schema) {
    return this.clone({ ...this.def, rest: schema });
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!Array.isArray(input)) return this._wrongType(payload);
    const { items, rest } = this.def;
    const result = (payload.value = []);
    // Everything from here on may be left out.
    const required = items.findLastIndex((item) => item._zod.optin !== "optional") + 1;
    if (!rest) {
      const origin = "array";
      if (input.length > items.length) {
        payload.issues.push({ code: "too_big", maximum: items.length, input, inst: this, origin });
        return payload;
      }
      if (input.length < required - 1) {
        payload.issues.push({ code: "too_small", minimum: items.length, input, inst: this, origin });
        return payload;
      }
    }
    const pass = new Pass(payload, ctx);
    const item = (schema, i) => pass.part(schema, input[i], (found) => (result[i] = found), i);
    items.forEach((schema, i) => {
      if (i < input.length || i < required) item(schema, i);
    });
    if (rest) for (let i = items.length; i < input.length; i++) item(rest, i);
    return pass.end();
  }
}

export class ZodRecord extends ZodType {
  get keyType() {
    return this.def.keyType;
  }
  get valueType() {
    return this.def.valueType;
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!isPlain(input)) return this._wrongType(payload);
    const { keyType, valueType } = this.def;
    const result = (payload.value = {});
    const pass = new Pass(payload, ctx);
    const entry = (name, key) => pass.part(valueType, input[name], (found) => define(result, key, found), name);
    // Keys that can be listed are all wanted, and no others.
    const known = this.def.partial ? undefined : keyType._zod.values;
    if (known) {
      for (const key of known) if (/string|number|symbol/.test(typeof key)) entry(key, key);
      const keys = Object.keys(input).filter((key) => !known.has(key));
      if (keys.length) payload.issues.push({ code: "unrecognized_keys", input, inst: this, keys });
      return pass.end();
    }
    for (const name of Reflect.ownKeys(input)) {
      if (name === "__proto__") continue;
      const key = keyType._zod.run({ value: name, issues: [] }, ctx);
      if (key instanceof Promise) throw new Error("Async schemas not supported in object keys currently");
      if (key.issues.length) {
        const issues = key.issues.map((issue) => finish(issue, ctx));
        payload.issues.push({ code: "invalid_key", origin: "record", issues, input: name, path: [name], inst: this });
        define(result, key.value, key.value);
      } else entry(name, key.value);
    }
    return pass.end();
  }
}

export class ZodMap extends ZodType {
  get keyType() {
    return this.def.keyType;
  }
  get valueType() {
    return this.def.valueType;
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!(input instanceof Map)) return this._wrongType(payload);
    const result = (payload.value = new Map());
    const pass = new Pass(payload, ctx);
    for (const [key, value] of input) {
      // Only a key that can stand in a path names the place; other keys carry their issues inside.
      const place = /string|number|symbol/.test(typeof key);
      const report = (issues, issue) => {
        if (!issues.length) return;
        if (place) adopt(payload, issues, key);
        else {
          issue.issues = issues.map((found) => finish(found, ctx));
          payload.issues.push({ ...issue, input, inst: this });
        }
      };
      const results = [
        this.def.keyType._zod.run({ value: key, issues: [] }, ctx),
        this.def.valueType._zod.run({ value, issues: [] }, ctx),
      ];
      const take = ([foundKey, found]) => {
        report(foundKey.issues, { code: "invalid_key", origin: "map" });
        report(found.issues, { origin: "map", code: "invalid_element", key });
        result.set(foundKey.value, found.value);
      };
      if (results.some((found) => found instanceof Promise)) pass.jobs.push(Promise.all(results).then(take));
      else take(results);
    }
    return pass.end();
  }
}

export class ZodSet extends ZodType {
  nonempty(params) {
    return this.min(1, params);
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!(input instanceof Set)) return this._wrongType(payload);
    const result = (payload.value = new Set());
    const pass = new Pass(payload, ctx);
    for (const item of input) pass.part(this.def.valueType, item, (found) => result.add(found));
    return pass.end();
  }
}
addChecks(ZodSet, { min: checks.minSize, max: checks.maxSize, size: checks.size });

const create = (Kind, own, params) => new Kind(definition(own, params));

export function object(shape, params) {
  return new ZodObject(lazyShape(definition({ type: "object" }, params), () => joined(shape ?? {}, {})));
}
export const strictObject = (shape, params) =>
  new ZodObject(lazyShape(definition({ type: "object", catchall: scalars.never() }, params), () => joined(shape, {})));
export const looseObject = (shape, params) =>
  new ZodObject(lazyShape(definition({ type: "object", catchall: scalars.unknown() }, params), () => joined(shape, {})));
export const keyof = (schema) => schema.keyof();
export const array = (element, params) => create(ZodArray, { type: "array", element }, params);
export function tuple(items, second, third) {
  const hasRest = second instanceof ZodType || second?._zod;
  const rest = hasRest ? second : null;
  return create(ZodTuple, { type: "tuple", items, rest }, hasRest ? third : second);
}
export const record = (keyType, valueType, params) =>
  create(ZodRecord, { type: "record", keyType, valueType }, params);
export const partialRecord = (keyType, valueType, params) =>
  create(ZodRecord, { type: "record", keyType, valueType, partial: true }, params);
export const map = (keyType, valueType, params) => create(ZodMap, { type: "map", keyType, valueType }, params);
export const set = (valueType, params) => create(ZodSet, { type: "set", valueType }, params);
