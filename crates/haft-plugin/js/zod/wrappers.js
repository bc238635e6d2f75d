// Schemas around one other schema, and the ones made of a function: absence, defaults, transforms, custom tests.
import { array, record, tuple } from "./containers.js";
import { intersection, union } from "./choices.js";
import * as checks from "./checks.js";
import { finish, normalize, ZodAsyncError, ZodEncodeError } from "./issues.js";
import * as regexes from "./regexes.js";
import * as scalars from "./scalars.js";
import { string } from "./text.js";
import { after, definition, isPlain, parse, parseAsync, wrap, ZodType } from "./type.js";

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
  _optin() {
    return "optional";
  }
  _optout() {
    return "optional";
  }
  _values() {
    return withValue(this._inner.values, undefined);
  }
  _pattern() {
    return patternOf(this, ")?");
  }
  _parse(payload, ctx) {
    const absent = payload.value === undefined;
    if (this._inner.optin === "optional") {
      return after(this._inner.run(payload, ctx), (result) =>
        result.issues.length && absent ? { issues: [], value: undefined } : result);
    }
    return absent ? payload : this._inner.run(payload, ctx);
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

/** A default is handed out as a copy, or as a function makes it, so one call cannot change it for the next. */
function holdDefault(def, value) {
  return Object.defineProperty(def, "defaultValue", {
    get: () => (typeof value === "function" ? value() : Array.isArray(value) ? [...value] : isPlain(value) ? { ...value } : value),
    enumerable: true,
  });
}

export class ZodDefault extends Wrapper {
  removeDefault() {
    return this.def.innerType;
  }
  _optin() {
    return "optional";
  }
  _optout() {}
  _parse(payload, ctx) {
    if (ctx?.direction === "backward") return this._inner.run(payload, ctx);
    const fill = (result) => {
      if (result.value === undefined) result.value = this.def.defaultValue;
      return result;
    };
    return payload.value === undefined ? fill(payload) : after(this._inner.run(payload, ctx), fill);
  }
}

export class ZodPrefault extends Wrapper {
  _optin() {
    return "optional";
  }
  _optout() {}
  _parse(payload, ctx) {
    if (payload.value === undefined && ctx?.direction !== "backward") payload.value = this.def.defaultValue;
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
        : result);
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

/** Gives a payload the `addIssue` that transforms and refinements are called with. */
function withAddIssue(payload, schema, defaults) {
  payload.addIssue = (said) => {
    const issue = typeof said === "string" ? { message: said } : { ...said };
    if (issue.fatal) issue.continue = false;
    issue.code ??= "custom";
    if (!("input" in issue)) issue.input = payload.value;
    issue.inst ??= schema;
    if (defaults) issue.continue ??= true;
    payload.issues.push(issue);
  };
  return payload;
}

export class ZodTransform extends ZodType {
  _parse(payload, ctx) {
    if (ctx?.direction === "backward") throw new ZodEncodeError(this.constructor.name);
    const made = this.def.transform(payload.value, withAddIssue(payload, this));
    if (made instanceof Promise && ctx?.async === false) throw new ZodAsyncError();
    return after(made, (value) => {
      payload.value = value;
      return payload;
    });
  }
}

export class ZodPipe extends ZodType {
  get in() {
    return this.def.in;
  }
  get out() {
    return this.def.out;
  }
  _optin() {
    return this.def.in._zod.optin;
  }
  _optout() {
    return this.def.out._zod.optout;
  }
  _values() {
    return this.def.in._zod.values;
  }
  _propValues() {
    return this.def.in._zod.propValues;
  }
  /** What happens to a value between the two sides. */
  _between(result, _ctx) {
    return result;
  }
  _parse(payload, ctx) {
    const backward = ctx?.direction === "backward";
    const [first, second] = backward ? [this.def.out, this.def.in] : [this.def.in, this.def.out];
    return after(first._zod.run(payload, ctx), (result) => {
      if (result.issues.length) return Object.assign(result, { aborted: true });
      return after(this._between(result, backward), (result) => {
        if (result.issues.length) return Object.assign(result, { aborted: true });
        return second._zod.run({ value: result.value, issues: result.issues }, ctx);
      });
    });
  }
}

export class ZodCodec extends ZodPipe {
  _between(result, backward) {
    const change = backward ? this.def.reverseTransform : this.def.transform;
    return after(change(result.value, withAddIssue(result, this)), (value) => {
      result.value = value;
      return result;
    });
  }
}

/** A test of one's own, as a schema (`z.custom`) or as a check (`refine`). */
export class ZodCustom extends ZodType {
  _checks() {
    return (this._own ??= [this, ...(this.def.checks ?? [])]);
  }
  _check(payload) {
    const { value } = payload;
    return after(this.def.fn(value), (passed) => {
      if (passed) return;
      const { path, abort, params } = this.def;
      const issue = { code: "custom", input: value, inst: this, path: [...(path ?? [])], continue: !abort };
      if (params) issue.params = params;
      payload.issues.push(issue);
    });
  }
}

export class ZodTemplateLiteral extends ZodType {
  _pattern() {
    if (this._known) return this._known;
    const parts = this.def.parts.map((part) => {
      if (!part?._zod) return regexes.escape(`${part}`);
      const { pattern } = part._zod;
      if (!pattern) throw new Error(`Invalid template literal part, no pattern found: ${part.constructor.name}`);
      return regexes.inner(pattern);
    });
    return (this._known = new RegExp(`^${parts.join("")}$`));
  }
  _parse(payload) {
    if (typeof payload.value !== "string") return this._wrongType(payload, "template_literal");
    const pattern = this._pattern();
    if (pattern.test(payload.value)) return payload;
    const format = this.def.format ?? "template_literal";
    return this._fail(payload, { code: "invalid_format", format, pattern: pattern.source });
  }
}

export class ZodFunction extends ZodType {
  _parse(payload) {
    if (typeof payload.value !== "function") return this._wrongType(payload);
    const isAsync = this.def.output?._zod.def.type === "promise";
    payload.value = isAsync ? this.implementAsync(payload.value) : this.implement(payload.value);
    return payload;
  }
  implement(body) {
    if (typeof body !== "function") throw new Error("implement() must be called with a function");
    const { input, output } = this.def;
    return function (...args) {
      const result = Reflect.apply(body, this, input ? parse(input, args) : args);
      return output ? parse(output, result) : result;
    };
  }
  implementAsync(body) {
    if (typeof body !== "function") throw new Error("implementAsync() must be called with a function");
    const { input, output } = this.def;
    return async function (...args) {
      const result = await Reflect.apply(body, this, input ? await parseAsync(input, args) : args);
      return output ? parseAsync(output, result) : result;
    };
  }
  input(...args) {
    return functionSchema({ input: Array.isArray(args[0]) ? tuple(...args) : args[0], output: this.def.output });
  }
  output(output) {
    return functionSchema({ input: this.def.input, output });
  }
}

const around = (Kind, type) => (innerType, params) => new Kind(definition({ type, innerType }, params));
export const optional = around(ZodOptional, "optional");
export const nullable = around(ZodNullable, "nullable");
export const nullish = (schema) => optional(nullable(schema));
export const nonoptional = around(ZodNonOptional, "nonoptional");
export const readonly = around(ZodReadonly, "readonly");
export const success = around(ZodSuccess, "success");
export const promise = around(ZodPromise, "promise");
export const _default = (innerType, value) => new ZodDefault(holdDefault({ type: "default", innerType }, value));
export const prefault = (innerType, value) => new ZodPrefault(holdDefault({ type: "prefault", innerType }, value));
const catchSchema = (innerType, value) =>
  new ZodCatch({ type: "catch", innerType, catchValue: typeof value === "function" ? value : () => value });
export { catchSchema as catch };
export const lazy = (getter) => new ZodLazy({ type: "lazy", getter });
export const transform = (change) => new ZodTransform({ type: "transform", transform: change });
const pipeSchema = (input, output) => new ZodPipe({ type: "pipe", in: input, out: output });
export { pipeSchema as pipe };
export const preprocess = (change, schema) => pipeSchema(transform(change), schema);
export const codec = (input, output, { decode, encode }) =>
  new ZodCodec({ type: "pipe", in: input, out: output, transform: decode, reverseTransform: encode });
export const refine = (fn, params) => new ZodCustom(definition({ type: "custom", check: "custom", fn }, params));
export const custom = (fn, params) => refine(fn ?? (() => true), { abort: true, ...normalize(params) });
export function check(fn) {
  return { _zod: { check: fn, def: { check: "custom" }, onattach: [] } };
}
export function superRefine(fn) {
  const self = check((payload) => fn(payload.value, withAddIssue(payload, self, true)));
  return self;
}
const instanceOf = (Class, params) =>
  refine((value) => value instanceof Class, { abort: true, ...normalize(params ?? `Input not instance of ${Class.name}`) });
export { instanceOf as instanceof };
export const templateLiteral = (parts, params) =>
  new ZodTemplateLiteral(definition({ type: "template_literal", parts }, params));
function functionSchema({ input, output } = {}) {
  return new ZodFunction({
    type: "function",
    input: Array.isArray(input) ? tuple(input) : input ?? array(scalars.unknown()),
    output: output ?? scalars.unknown(),
  });
}
export { functionSchema as function, functionSchema as _function };

export function json(params) {
  const value = lazy(() =>
    union([string(params), scalars.number(), scalars.boolean(), scalars.null(), array(value), record(string(), value)]));
  return value;
}

const TRUTHY = ["true", "1", "yes", "on", "y", "enabled"];
const FALSY = ["false", "0", "no", "off", "n", "disabled"];
export function stringbool(options) {
  const { truthy = TRUTHY, falsy = FALSY, case: casing, error } = normalize(options);
  const fold = (text) => (casing === "sensitive" ? text : text.toLowerCase());
  const yes = new Set(truthy.map(fold));
  const no = new Set(falsy.map(fold));
  const self = codec(string({ error }), scalars.boolean({ error }), {
    decode: (value, payload) => {
      const text = fold(value);
      if (yes.has(text)) return true;
      if (no.has(text)) return false;
      const values = [...yes, ...no];
      payload.issues.push(
        { code: "invalid_value", expected: "stringbool", values, input: payload.value, inst: self, continue: false });
      return {};
    },
    encode: (value) => (value ? truthy[0] ?? "true" : falsy[0] ?? "false"),
  });
  if (error) self.def.error = error;
  return self;
}

// The methods of the base class, which cannot import what extends it, get their makers from here.
Object.assign(wrap, {
  array, catch: catchSchema, default: _default, intersection, nonoptional, nullable, optional, overwrite: checks.overwrite,
  pipe: pipeSchema, prefault, readonly, refine, superRefine, transform, union,
});
