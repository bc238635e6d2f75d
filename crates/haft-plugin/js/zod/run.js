// How a value runs through schemas: a payload {value, issues} is passed along and may turn into a promise on
// the way. The same fields and the same `run` as in the zod package, so that schemas of both can stand inside
// each other.
import { ZodAsyncError } from "./issues.js";

/** True when an issue says that going on makes no sense (each one does, unless it says `continue`). */
export function stopped(payload, from = 0) {
  if (payload.aborted) return true;
  for (let i = from; i < payload.issues.length; i++) if (payload.issues[i].continue !== true) return true;
  return false;
}

/** Calls `next` with the result, now or when it has come. */
export function after(result, next) {
  return result instanceof Promise ? result.then(next) : next(result);
}

/** Adds issues found inside a value to those of the value; `key` is where, if that can be said. */
export function adopt(payload, issues, key) {
  for (const issue of issues) {
    if (key !== undefined) (issue.path ??= []).unshift(key);
    payload.issues.push(issue);
  }
}

/** True for objects that can have named fields. */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** True for objects made by a literal, JSON or without a prototype. */
export function isPlain(value) {
  if (!isObject(value)) return false;
  const { constructor } = value;
  // An own field may be called `constructor` too.
  if (typeof constructor !== "function") return true;
  return isObject(constructor?.prototype) && Object.hasOwn(constructor.prototype, "isPrototypeOf");
}

function runChecks(payload, checks, ctx) {
  let halted = stopped(payload);
  let pending;
  for (const check of checks) {
    const { when } = check._zod.def;
    if (when ? !when(payload) : halted) continue;
    const before = payload.issues.length;
    const done = check._zod.check(payload);
    if (done instanceof Promise && ctx?.async === false) throw new ZodAsyncError();
    if (pending || done instanceof Promise) {
      pending = (pending ?? Promise.resolve()).then(async () => {
        await done;
        halted ||= stopped(payload, before);
      });
    } else halted ||= stopped(payload, before);
  }
  return pending ? pending.then(() => payload) : payload;
}

/** The part of a schema that other schemas work with. What is rarely asked for is worked out on demand. */
export class Internals {
  constructor(schema, def) {
    this.def = def;
    this.constr = schema.constructor;
    Object.defineProperty(this, "schema", { value: schema });
  }
  get version() {
    return { major: 4, minor: 1, patch: 8 };
  }
  // The zod package asks by these names whether something is a schema.
  get traits() {
    const { name } = this.constr;
    return new Set(["$ZodType", "ZodType", name, `$${name}`]);
  }
  parse(payload, ctx) {
    return this.schema._parse(payload, ctx);
  }
  // Only schemas that are checks too (formats) have something to check.
  check(payload) {
    return this.schema._check?.(payload);
  }
  run(payload, ctx) {
    const { schema } = this;
    const checks = schema._checks();
    if (!checks.length || ctx?.skipChecks) return schema._parse(payload, ctx);
    if (ctx?.direction === "backward") {
      // The checks speak about the decoded side, so they come before the way back; a dry run tells its type
      // first.
      const dry = schema._parse({ value: payload.value, issues: [] }, { ...ctx, skipChecks: true });
      return after(dry, (dry) => {
        if (stopped(dry)) return Object.assign(dry, { aborted: true });
        return after(runChecks(payload, checks, ctx), (checked) => schema._parse(checked, ctx));
      });
    }
    const parsed = schema._parse(payload, ctx);
    return parsed instanceof Promise
      ? parsed.then((parsed) => runChecks(parsed, checks, ctx))
      : runChecks(parsed, checks, ctx);
  }
}

// What schemas ask each other: may the input (or the output) be absent, which values are all there are (of
// the schema, of each property), which pattern does a text of it match, what do its checks say. Kinds answer
// what applies to them.
for (const name of ["optin", "optout", "values", "propValues", "pattern", "bag"]) {
  const answer = `_${name}`;
  Object.defineProperty(Internals.prototype, name, {
    get() {
      return this.schema[answer]?.();
    },
  });
}

/** One pass over the parts of a value: collects issues and, if there are any, promises. */
export class Pass {
  constructor(payload, ctx) {
    this.payload = payload;
    this.ctx = ctx;
    this.jobs = [];
  }
  /** Runs `schema` on a part and hands the outcome to `keep`; `key` is where it was, if that can be said. */
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
