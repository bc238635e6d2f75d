// Schemas made of other schemas: objects, lists, records, maps, sets and the choices between schemas.
// Input is never trusted to be tame: results are built anew, and a key called `__proto__` is data or is dropped.
import * as checks from "./checks.js";
import { define, finish } from "./issues.js";
import * as scalars from "./scalars.js";
import { addChecks, after, definition, isObject, isPlain, settle, under, wrap, ZodType } from "./type.js";

/** Runs `schema` on `value` and hands the result to `take`; a promise of it is added to `jobs`. */
function each(jobs, schema, value, ctx, take) {
  const done = after(schema._zod.run({ value, issues: [] }, ctx), take);
  if (done instanceof Promise) jobs.push(done);
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
    const jobs = [];
    const take = (key) => (field) => {
      if (field.issues.length) payload.issues.push(...under(key, field.issues));
      if (field.value !== undefined || key in input) define(result, key, field.value);
    };
    for (const key of keys) each(jobs, shape[key], input[key], ctx, take(key));
    const { catchall } = this.def;
    if (catchall) {
      const unknown = [];
      for (const key of Object.keys(input)) {
        if (set.has(key)) continue;
        if (catchall._zod.def.type === "never") unknown.push(key);
        else if (key !== "__proto__") each(jobs, catchall, input[key], ctx, take(key));
      }
      if (unknown.length) {
        payload.issues.push({ code: "unrecognized_keys", keys: unknown, input, inst: this });
      }
    }
    return settle(jobs, payload);
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
  _bag() {
    return checks.bagOf(this._checks());
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!Array.isArray(input)) return this._wrongType(payload);
    const result = (payload.value = new Array(input.length));
    const jobs = [];
    for (let i = 0; i < input.length; i++) {
      each(jobs, this.def.element, input[i], ctx, (item) => {
        if (item.issues.length) payload.issues.push(...under(i, item.issues));
        result[i] = item.value;
      });
    }
    return settle(jobs, payload);
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
    const jobs = [];
    const item = (schema, i) =>
      each(jobs, schema, input[i], ctx, (found) => {
        if (found.issues.length) payload.issues.push(...under(i, found.issues));
        result[i] = found.value;
      });
    items.forEach((schema, i) => {
      if (i < input.length || i < required) item(schema, i);
    });
    if (rest) for (let i = items.length; i < input.length; i++) item(rest, i);
    return settle(jobs, payload);
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
    const jobs = [];
    const entry = (name, key) =>
      each(jobs, valueType, input[name], ctx, (found) => {
        if (found.issues.length) payload.issues.push(...under(name, found.issues));
        define(result, key, found.value);
      });
    // Keys that can be listed are all wanted, and no others.
    const known = this.def.partial ? undefined : keyType._zod.values;
    if (known) {
      for (const key of known) if (/string|number|symbol/.test(typeof key)) entry(key, key);
      const keys = Object.keys(input).filter((key) => !known.has(key));
      if (keys.length) payload.issues.push({ code: "unrecognized_keys", input, inst: this, keys });
      return settle(jobs, payload);
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
    return settle(jobs, payload);
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
    const jobs = [];
    for (const [key, value] of input) {
      // Only a key that can stand in a path names the place; other keys carry their issues inside.
      const place = /string|number|symbol/.test(typeof key);
      const report = (issues, issue) => {
        if (!issues.length) return;
        if (place) payload.issues.push(...under(key, issues));
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
      if (results.some((found) => found instanceof Promise)) jobs.push(Promise.all(results).then(take));
      else take(results);
    }
    return settle(jobs, payload);
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
    const jobs = [];
    for (const item of input) {
      each(jobs, this.def.valueType, item, ctx, (found) => {
        payload.issues.push(...found.issues);
        result.add(found.value);
      });
    }
    return settle(jobs, payload);
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
