// Schemas made of functions: transforms, pipes, tests of one's own, and what is put together from them.
import * as checks from "./checks.js";
import { intersection, union } from "./choices.js";
import { array, record, tuple } from "./containers.js";
import { normalize, ZodAsyncError, ZodEncodeError } from "./issues.js";
import { number } from "./numbers.js";
import * as regexes from "./regexes.js";
import { globalRegistry } from "./registry.js";
import { after } from "./run.js";
import * as scalars from "./scalars.js";
import { string } from "./text.js";
import { definition, expose, parse, parseAsync, wrap, ZodType } from "./type.js";
import * as wrappers from "./wrappers.js";

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

expose(ZodPipe, "in", "out");

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
      if (!pattern)
        throw new Error(`Invalid template literal part, no pattern found: ${part.constructor.name}`);
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
    return functionSchema({
      input: Array.isArray(args[0]) ? tuple(...args) : args[0],
      output: this.def.output,
    });
  }
  output(output) {
    return functionSchema({ input: this.def.input, output });
  }
}

export const transform = (change) => new ZodTransform({ type: "transform", transform: change });
const pipeSchema = (input, output) => new ZodPipe({ type: "pipe", in: input, out: output });
export { pipeSchema as pipe };
export const preprocess = (change, schema) => pipeSchema(transform(change), schema);
export const codec = (input, output, { decode, encode }) =>
  new ZodCodec({ type: "pipe", in: input, out: output, transform: decode, reverseTransform: encode });
export const refine = (fn, params) =>
  new ZodCustom(definition({ type: "custom", check: "custom", fn }, params));
export const custom = (fn, params) => refine(fn ?? (() => true), { abort: true, ...normalize(params) });
export function check(fn) {
  return { _zod: { check: fn, def: { check: "custom" }, onattach: [] } };
}
/** `describe` and `meta` in the form of checks. */
export function meta(words) {
  const self = check(() => {});
  self._zod.onattach.push((schema) =>
    globalRegistry.add(schema, { ...globalRegistry.get(schema), ...words }),
  );
  return self;
}
export const describe = (description) => meta({ description });
export function superRefine(fn) {
  const self = check((payload) => fn(payload.value, withAddIssue(payload, self, true)));
  return self;
}
const instanceOf = (Class, params) =>
  refine((value) => value instanceof Class, {
    abort: true,
    ...normalize(params ?? `Input not instance of ${Class.name}`),
  });
export { instanceOf as instanceof };
export const templateLiteral = (parts, params) =>
  new ZodTemplateLiteral(definition({ type: "template_literal", parts }, params));
function functionSchema({ input, output } = {}) {
  return new ZodFunction({
    type: "function",
    input: Array.isArray(input) ? tuple(input) : (input ?? array(scalars.unknown())),
    output: output ?? scalars.unknown(),
  });
}
export { functionSchema as function, functionSchema as _function };

export function json(params) {
  const value = wrappers.lazy(() =>
    union([
      string(params),
      number(),
      scalars.boolean(),
      scalars.null(),
      array(value),
      record(string(), value),
    ]),
  );
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
      payload.issues.push({
        code: "invalid_value",
        expected: "stringbool",
        values,
        input: payload.value,
        inst: self,
        continue: false,
      });
      return {};
    },
    encode: (value) => (value ? (truthy[0] ?? "true") : (falsy[0] ?? "false")),
  });
  if (error) self.def.error = error;
  return self;
}

// The methods of the base class, which cannot import what extends it, get their makers from here.
const { catch: catchSchema, exactOptional, nonoptional, nullable, optional, prefault, readonly } = wrappers;
Object.assign(wrap, {
  array,
  catch: catchSchema,
  default: wrappers._default,
  exactOptional,
  intersection,
  nonoptional,
  nullable,
  optional,
  overwrite: checks.overwrite,
  pipe: pipeSchema,
  prefault,
  readonly,
  refine,
  superRefine,
  transform,
  union,
});
