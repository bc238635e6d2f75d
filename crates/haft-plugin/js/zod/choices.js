// Schemas that choose between others or join them: unions and intersections.
import { finish } from "./issues.js";
import * as regexes from "./regexes.js";
import { adopt, isObject, isPlain, stopped } from "./run.js";
import { definition, expose, ZodType } from "./type.js";

const any = (options, side) =>
  options.some((option) => option._zod[side] === "optional") ? "optional" : undefined;

export class ZodUnion extends ZodType {
  _optin() {
    return any(this.def.options, "optin");
  }
  _optout() {
    return any(this.def.options, "optout");
  }
  _values() {
    const all = this.def.options.map((option) => option._zod.values);
    return all.every(Boolean) ? new Set(all.flatMap((values) => [...values])) : undefined;
  }
  _pattern() {
    const all = this.def.options.map((option) => option._zod.pattern);
    return all.every(Boolean) ? new RegExp(`^(${all.map(regexes.inner).join("|")})$`) : undefined;
  }
  _parse(payload, ctx) {
    const { options } = this.def;
    if (options.length === 1) return options[0]._zod.run(payload, ctx);
    const results = [];
    let waits = false;
    for (const option of options) {
      const result = option._zod.run({ value: payload.value, issues: [] }, ctx);
      if (result instanceof Promise) waits = true;
      else if (!result.issues.length) return result;
      results.push(result);
    }
    return waits
      ? Promise.all(results).then((all) => this.#pick(all, payload, ctx))
      : this.#pick(results, payload, ctx);
  }
  #pick(results, payload, ctx) {
    const good = results.find((result) => !result.issues.length);
    if (good) {
      payload.value = good.value;
      return payload;
    }
    // The right type with a failed check is a better answer than "none of them".
    const near = results.filter((result) => !stopped(result));
    if (near.length === 1) {
      payload.value = near[0].value;
      return near[0];
    }
    return this._none(results, payload, ctx);
  }
  _none(results, payload, ctx) {
    const errors = results.map((result) => result.issues.map((issue) => finish(issue, ctx)));
    payload.issues.push({ code: "invalid_union", input: payload.value, inst: this, errors });
    return payload;
  }
}

expose(ZodUnion, "options");

/** Exactly one option must fit. */
export class ZodXor extends ZodUnion {
  _parse(payload, ctx) {
    const runs = this.def.options.map((option) => option._zod.run({ value: payload.value, issues: [] }, ctx));
    const judge = (results) => {
      const fitting = results.filter((result) => !result.issues.length);
      if (fitting.length === 1) {
        payload.value = fitting[0].value;
        return payload;
      }
      if (!fitting.length) return this._none(results, payload, ctx);
      const matches = [...results.keys()].filter((i) => !results[i].issues.length);
      return this._fail(payload, { code: "invalid_union", errors: [], inclusive: false, matches });
    };
    return runs.some((run) => run instanceof Promise) ? Promise.all(runs).then(judge) : judge(runs);
  }
}

export class ZodDiscriminatedUnion extends ZodUnion {
  /** Which option belongs to which value of the discriminator. */
  #table() {
    if (this._known) return this._known;
    const { options, discriminator } = this.def;
    const table = new Map();
    options.forEach((option, index) => {
      const values = option._zod.propValues?.[discriminator];
      if (!values?.size) throw new Error(`Invalid discriminated union option at index "${index}"`);
      for (const value of values) {
        if (table.has(value)) throw new Error(`Duplicate discriminator value "${String(value)}"`);
        table.set(value, option);
      }
    });
    return (this._known = table);
  }
  _propValues() {
    const all = {};
    this.def.options.forEach((option, index) => {
      const found = option._zod.propValues;
      if (!found || !Object.keys(found).length) {
        throw new Error(`Invalid discriminated union option at index "${index}"`);
      }
      for (const [key, values] of Object.entries(found)) {
        all[key] ??= new Set();
        for (const value of values) all[key].add(value);
      }
    });
    return all;
  }
  _parse(payload, ctx) {
    const input = payload.value;
    if (!isObject(input)) return this._wrongType(payload, "object");
    const { discriminator } = this.def;
    const option = this.#table().get(input[discriminator]);
    if (option) return option._zod.run(payload, ctx);
    if (this.def.unionFallback) return super._parse(payload, ctx);
    const note = "No matching discriminator";
    const issue = {
      code: "invalid_union",
      errors: [],
      note,
      discriminator,
      input,
      path: [discriminator],
      inst: this,
    };
    payload.issues.push(issue);
    return payload;
  }
}

/** Joins two results of one input. What they disagree about is named by `path`. */
function merge(a, b, path = []) {
  if (a === b || (a instanceof Date && b instanceof Date && +a === +b)) return { data: a };
  if (isPlain(a) && isPlain(b)) {
    const data = { ...a, ...b };
    for (const key of Object.keys(a)) {
      if (!Object.hasOwn(b, key)) continue;
      const both = merge(a[key], b[key], [...path, key]);
      if (both.clash) return both;
      data[key] = both.data;
    }
    return { data };
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    const data = [];
    for (let i = 0; i < a.length; i++) {
      const both = merge(a[i], b[i], [...path, i]);
      if (both.clash) return both;
      data.push(both.data);
    }
    return { data };
  }
  return { clash: path };
}

export class ZodIntersection extends ZodType {
  _parse(payload, ctx) {
    const { left, right } = this.def;
    const both = [left, right].map((side) => side._zod.run({ value: payload.value, issues: [] }, ctx));
    const join = ([a, b]) => {
      adopt(payload, a.issues);
      adopt(payload, b.issues);
      if (stopped(payload)) return payload;
      const merged = merge(a.value, b.value);
      if (merged.clash)
        throw new Error(`Unmergable intersection. Error path: ${JSON.stringify(merged.clash)}`);
      payload.value = merged.data;
      return payload;
    };
    return both.some((side) => side instanceof Promise) ? Promise.all(both).then(join) : join(both);
  }
}

export const union = (options, params) => new ZodUnion(definition({ type: "union", options }, params));
export const xor = (options, params) =>
  new ZodXor(definition({ type: "union", options, inclusive: false }, params));
export const discriminatedUnion = (discriminator, options, params) =>
  new ZodDiscriminatedUnion(definition({ type: "union", options, discriminator }, params));
export const intersection = (left, right) =>
  new ZodIntersection(definition({ type: "intersection", left, right }));
