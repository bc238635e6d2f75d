// Schemas around one other schema: absence, defaults, what to do when it fails, and schemas that come later.
import { finish } from "./issues.js";
import * as regexes from "./regexes.js";
import { after, isPlain } from "./run.js";
import { definition, mayBeAbsent, ZodType } from "./type.js";

/** A schema that holds another one as `innerType`. */
class Holder extends ZodType {
  get _inner() {
    return this.def.innerType._zod;
  }
  unwrap() {
    return this.def.innerType;
  }
}
/** One that is like what it holds wherever it does not say otherwise. */
class Wrapper extends Holder {
  _optin() {
    return this._inner.optin;
  }
  _optout() {
    return this._inner.optout;
  }
  _values() {
    return this._inner.values;
  }
  _propValues() {
    return this._inner.propValues;
  }
}

const withValue = (values, extra) => values && new Set([...values, extra]);
const patternOf = (schema, suffix) => {
  const { pattern } = schema._inner;
  return pattern && new RegExp(`^(${regexes.inner(pattern)}${suffix}$`);
};

export class ZodOptional extends Wrapper {
  _values() {
    return withValue(this._inner.values, undefined);
  }
  _pattern() {
    return patternOf(this, ")?");
  }
  _parse(payload, ctx) {
    if (this._inner.optin === "optional") {
      return after(this._inner.run(payload, ctx), (result) =>
        result.issues.length && payload.value === undefined ? { issues: [], value: undefined } : result,
      );
    }
    return payload.value === undefined ? payload : this._inner.run(payload, ctx);
  }
}

/** May be left out, but not be undefined; objects ask `_exact` before they read a field that is not there. */
export class ZodExactOptional extends Wrapper {
  get _exact() {
    return true;
  }
  _parse(payload, ctx) {
    return this._inner.run(payload, ctx);
  }
}

export class ZodNullable extends Wrapper {
  _values() {
    return withValue(this._inner.values, null);
  }
  _pattern() {
    return patternOf(this, "|null)");
  }
  _parse(payload, ctx) {
    return payload.value === null ? payload : this._inner.run(payload, ctx);
  }
}

/** Gives a default out as a copy, or as a function makes it: one call cannot change it for the next. */
function copy(value) {
  if (typeof value === "function") return value();
  return Array.isArray(value) ? [...value] : isPlain(value) ? { ...value } : value;
}
// Under a symbol the original goes along when a definition is spread; the getter beside it would not.
const ORIGINAL = Symbol("default");
function holdDefault(def, value) {
  def[ORIGINAL] = value;
  return Object.defineProperty(def, "defaultValue", { get: () => copy(value), enumerable: true });
}

export class ZodDefault extends Wrapper {
  removeDefault() {
    return this.def.innerType;
  }
  _optout() {}
  _parse(payload, ctx) {
    if (ctx?.direction === "backward") return this._inner.run(payload, ctx);
    const fill = (result) => {
      if (result.value === undefined) result.value = copy(this.def[ORIGINAL]);
      return result;
    };
    return payload.value === undefined ? fill(payload) : after(this._inner.run(payload, ctx), fill);
  }
}

export class ZodPrefault extends Wrapper {
  _optout() {}
  _parse(payload, ctx) {
    if (payload.value === undefined && ctx?.direction !== "backward")
      payload.value = copy(this.def[ORIGINAL]);
    return this._inner.run(payload, ctx);
  }
}

export class ZodNonOptional extends Wrapper {
  _optin() {}
  _optout() {}
  _values() {
    const { values } = this._inner;
    return values && new Set([...values].filter((value) => value !== undefined));
  }
  _parse(payload, ctx) {
    return after(this._inner.run(payload, ctx), (result) =>
      !result.issues.length && result.value === undefined
        ? this._fail(result, { code: "invalid_type", expected: "nonoptional" })
        : result,
    );
  }
}

export class ZodCatch extends Wrapper {
  removeCatch() {
    return this.def.innerType;
  }
  _parse(payload, ctx) {
    if (ctx?.direction === "backward") return this._inner.run(payload, ctx);
    return after(this._inner.run(payload, ctx), (result) => {
      payload.value = result.value;
      if (result.issues.length) {
        const error = { issues: result.issues.map((issue) => finish(issue, ctx)) };
        payload.value = this.def.catchValue({ ...payload, error, input: payload.value });
        payload.issues = [];
      }
      return payload;
    });
  }
}

export class ZodReadonly extends Wrapper {
  _parse(payload, ctx) {
    return after(this._inner.run(payload, ctx), (result) => {
      if (ctx?.direction !== "backward") result.value = Object.freeze(result.value);
      return result;
    });
  }
}

export class ZodSuccess extends Holder {
  _parse(payload, ctx) {
    return after(this._inner.run(payload, ctx), (result) => ({ value: !result.issues.length, issues: [] }));
  }
}

export class ZodPromise extends Holder {
  _parse(payload, ctx) {
    return Promise.resolve(payload.value).then((value) => this._inner.run({ value, issues: [] }, ctx));
  }
}

/** Stands for a schema that does not exist yet: recursive types name themselves through it. */
export class ZodLazy extends Wrapper {
  get _inner() {
    return this.unwrap()._zod;
  }
  unwrap() {
    return (this._known ??= this.def.getter());
  }
  _values() {}
  _parse(payload, ctx) {
    return this._inner.run(payload, ctx);
  }
  _pattern() {
    return this._inner.pattern;
  }
}

mayBeAbsent(ZodOptional, "_optin", "_optout");
mayBeAbsent(ZodExactOptional, "_optin", "_optout");
mayBeAbsent(ZodDefault, "_optin");
mayBeAbsent(ZodPrefault, "_optin");

const around = (Kind, type) => (innerType, params) => new Kind(definition({ type, innerType }, params));
export const optional = around(ZodOptional, "optional");
export const exactOptional = around(ZodExactOptional, "optional");
export const nullable = around(ZodNullable, "nullable");
export const nullish = (schema) => optional(nullable(schema));
export const nonoptional = around(ZodNonOptional, "nonoptional");
export const readonly = around(ZodReadonly, "readonly");
export const success = around(ZodSuccess, "success");
export const promise = around(ZodPromise, "promise");
export const _default = (innerType, value) =>
  new ZodDefault(holdDefault({ type: "default", innerType }, value));
export const prefault = (innerType, value) =>
  new ZodPrefault(holdDefault({ type: "prefault", innerType }, value));
const catchSchema = (innerType, value) =>
  new ZodCatch({ type: "catch", innerType, catchValue: typeof value === "function" ? value : () => value });
export { catchSchema as catch };
export const lazy = (getter) => new ZodLazy({ type: "lazy", getter });
