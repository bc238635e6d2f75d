// The base of every schema, and the ways to put a value in: what comes out is data or an error.
import { bagOf } from "./checks.js";
import { finish, normalize, settings, ZodAsyncError, ZodError } from "./issues.js";
import { globalRegistry } from "./registry.js";
import { Internals } from "./run.js";

function outcome(result, ctx) {
  if (!result.issues.length) return { success: true, data: result.value };
  return { success: false, error: new ZodError(result.issues.map((issue) => finish(issue, ctx))) };
}

export function safeParse(schema, value, params) {
  const ctx = { ...params, async: false };
  const result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise) throw new ZodAsyncError();
  return outcome(result, ctx);
}

export async function safeParseAsync(schema, value, params) {
  const ctx = { ...params, async: true };
  return outcome(await schema._zod.run({ value, issues: [] }, ctx), ctx);
}

function dataOf(result) {
  if (!result.success) throw result.error;
  return result.data;
}

const backward = (entry) => (schema, value, params) =>
  entry(schema, value, { ...params, direction: "backward" });

export const parse = (schema, value, params) => dataOf(safeParse(schema, value, params));
export const parseAsync = async (schema, value, params) =>
  dataOf(await safeParseAsync(schema, value, params));
export const encode = backward(parse);
export const encodeAsync = backward(parseAsync);
export const safeEncode = backward(safeParse);
export const safeEncodeAsync = backward(safeParseAsync);
export {
  parse as decode,
  parseAsync as decodeAsync,
  safeParse as safeDecode,
  safeParseAsync as safeDecodeAsync,
};

export function clone(schema, def, params) {
  return schema.clone(def, params);
}

/** The makers that methods call. They make classes that extend this one, so wrappers.js puts them in here. */
export const wrap = {};

const NO_CHECKS = [];
const ENTRIES = {
  parse,
  safeParse,
  parseAsync,
  safeParseAsync,
  spa: safeParseAsync,
  encode,
  decode: parse,
  encodeAsync,
  decodeAsync: parseAsync,
  safeEncode,
  safeDecode: safeParse,
  safeEncodeAsync,
  safeDecodeAsync: safeParseAsync,
};

export class ZodType {
  constructor(def) {
    this._zod = new Internals(this, def);
    Object.defineProperty(this, "_zod", { enumerable: false });
    this.def = def;
    this.type = def.type;
  }

  // What each kind answers for itself.
  _parse(payload) {
    return payload;
  }
  _bag() {
    return bagOf(this._checks());
  }
  _checks() {
    return this.def.checks ?? NO_CHECKS;
  }
  /** Raises an issue that stops the run. */
  _fail(payload, issue) {
    issue.input = payload.value;
    issue.inst = this;
    payload.issues.push(issue);
    return payload;
  }
  _wrongType(payload, expected = this.type) {
    return this._fail(payload, { expected, code: "invalid_type" });
  }

  get _def() {
    return this.def;
  }
  get "~standard"() {
    return {
      vendor: "zod",
      version: 1,
      validate: (value) => {
        const answer = (result) =>
          result.success ? { value: result.data } : { issues: result.error.issues };
        try {
          return answer(safeParse(this, value));
        } catch (error) {
          if (!(error instanceof ZodAsyncError)) throw error;
          return safeParseAsync(this, value).then(answer);
        }
      },
    };
  }

  clone(def, params) {
    const copy = new this.constructor(def ?? this.def);
    // A copy with the same definition goes on being described by the words given to its original.
    if (!def || params?.parent) copy._zod.parent = this;
    return copy;
  }
  check(...checks) {
    const added = checks.map((check) =>
      typeof check === "function" ? { _zod: { check, def: { check: "custom" } } } : check,
    );
    const copy = this.clone({ ...this.def, checks: [...(this.def.checks ?? []), ...added] });
    for (const check of added) check._zod.onattach?.forEach((attach) => attach(copy));
    return copy;
  }
  with(...checks) {
    return this.check(...checks);
  }
  apply(change) {
    return change(this);
  }
  toJSONSchema(options) {
    return wrap.toJSONSchema(this, options);
  }
  nullish() {
    return this.nullable().optional();
  }
  or(other) {
    return wrap.union([this, other]);
  }
  and(other) {
    return wrap.intersection(this, other);
  }
  transform(change) {
    return this.pipe(wrap.transform(change));
  }
  brand() {
    return this;
  }
  register(registry, meta) {
    registry.add(this, meta);
    return this;
  }
  describe(description) {
    return this.clone().register(globalRegistry, { description });
  }
  meta(...args) {
    return args.length ? this.clone().register(globalRegistry, args[0]) : globalRegistry.get(this);
  }
  get description() {
    return globalRegistry.get(this)?.description;
  }
  isOptional() {
    return safeParse(this, undefined).success;
  }
  isNullable() {
    return safeParse(this, null).success;
  }
}

const WRAPPING = "optional exactOptional nullable nonoptional array default prefault catch pipe readonly";
for (const name of WRAPPING.split(" ")) {
  ZodType.prototype[name] = function (...args) {
    return wrap[name](this, ...args);
  };
}
for (const name of ["refine", "superRefine", "overwrite"]) {
  ZodType.prototype[name] = function (...args) {
    return this.check(wrap[name](...args));
  };
}

// These are handed around without their schema (`values.map(schema.parse)`), so each access gives a bound
// one.
for (const [name, entry] of Object.entries(ENTRIES)) {
  Object.defineProperty(ZodType.prototype, name, {
    get() {
      return (value, params) => entry(this, value, params);
    },
    set(value) {
      Object.defineProperty(this, name, { value, writable: true, configurable: true });
    },
    configurable: true,
  });
}

/** Shows fields of the definition on the schema. */
export function expose(target, ...names) {
  for (const name of names) {
    Object.defineProperty(target.prototype, name, {
      get() {
        return this.def[name];
      },
      configurable: true,
    });
  }
}

const optional = () => "optional";
/** Lets values of a kind be absent from objects, on the way in (`_optin`) or out (`_optout`). */
export function mayBeAbsent(target, ...sides) {
  for (const side of sides) target.prototype[side] = optional;
}

/** Gives a class one method per check. */
export function addChecks(target, table) {
  for (const [name, make] of Object.entries(table)) {
    target.prototype[name] = function (...args) {
      return this.check(make(...args));
    };
  }
}

/** The definition of a schema: its own fields, and what people gave as message or options. */
export function definition(own, params) {
  return { ...own, ...normalize(params) };
}

/** The zod 3 way to set one message function for everything. */
export const setErrorMap = (map) => void (settings.customError = map);
export const getErrorMap = () => settings.customError;
