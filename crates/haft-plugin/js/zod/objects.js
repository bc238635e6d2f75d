// Objects. Input is never trusted to be tame: the result is built anew, and a key called `__proto__` is data
// or dropped. A shape is read as late as possible, because its getters may name schemas that do not exist yet
// (recursive types).
import { define } from "./issues.js";
import { isObject, isPlain, Pass } from "./run.js";
import * as scalars from "./scalars.js";
import { definition, expose, wrap, ZodType } from "./type.js";

export class ZodObject extends ZodType {
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
    for (const key of keys) if (!shape[key]._exact || key in input) field(shape[key], key);
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
      throw new Error(
        "Object schemas containing refinements cannot be extended. Use `.safeExtend()` instead.",
      );
    }
    return this.#reshape(() => joined(this.def.shape, shape), { checks: [] });
  }
  safeExtend(shape) {
    if (!isPlain(shape)) throw new Error("Invalid input to safeExtend: expected a plain object");
    return this.#reshape(() => joined(this.def.shape, shape));
  }
  merge(other) {
    return this.#reshape(() => joined(this.def.shape, other.def.shape), {
      catchall: other.def.catchall,
      checks: [],
    });
  }
  #chosen(mask) {
    const { shape } = this.def;
    if (!mask) return Object.keys(shape);
    for (const key in mask) if (!(key in shape)) throw new Error(`Unrecognized key: "${key}"`);
    return Object.keys(mask).filter((key) => mask[key]);
  }
  pick(mask) {
    return this.#reshape(
      () => Object.fromEntries(this.#chosen(mask).map((key) => [key, this.def.shape[key]])),
      { checks: [] },
    );
  }
  omit(mask) {
    return this.#reshape(
      () => {
        const shape = { ...this.def.shape };
        for (const key of this.#chosen(mask)) delete shape[key];
        return shape;
      },
      { checks: [] },
    );
  }
  #each(mask, change) {
    return this.#reshape(
      () => {
        const shape = { ...this.def.shape };
        for (const key of this.#chosen(mask)) shape[key] = change(shape[key]);
        return shape;
      },
      { checks: [] },
    );
  }
  partial(mask) {
    return this.#each(mask, (field) => wrap.optional(field));
  }
  required(mask) {
    return this.#each(mask, (field) => wrap.nonoptional(field));
  }
}
expose(ZodObject, "shape");

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

export function object(shape, params) {
  return new ZodObject(lazyShape(definition({ type: "object" }, params), () => joined(shape ?? {}, {})));
}
export const strictObject = (shape, params) =>
  new ZodObject(
    lazyShape(definition({ type: "object", catchall: scalars.never() }, params), () => joined(shape, {})),
  );
export const looseObject = (shape, params) =>
  new ZodObject(
    lazyShape(definition({ type: "object", catchall: scalars.unknown() }, params), () => joined(shape, {})),
  );
export const keyof = (schema) => schema.keyof();
