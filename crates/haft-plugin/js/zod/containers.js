// Lists, tuples, records, maps and sets. As with objects, results are built anew and `__proto__` never is a
// key.
import * as checks from "./checks.js";
import { define, finish } from "./issues.js";
import { adopt, isPlain, Pass } from "./run.js";
import { addChecks, definition, expose, ZodType } from "./type.js";

export class ZodArray extends ZodType {
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
    for (let i = 0; i < input.length; i++)
      pass.part(this.def.element, input[i], (item) => (result[i] = item), i);
    return pass.end();
  }
}
expose(ZodArray, "element");
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
  _parse(payload, ctx) {
    const input = payload.value;
    if (!isPlain(input)) return this._wrongType(payload);
    const { keyType, valueType } = this.def;
    const result = (payload.value = {});
    const pass = new Pass(payload, ctx);
    const entry = (name, key) =>
      pass.part(valueType, input[name], (found) => define(result, key, found), name);
    const loose = this.def.mode === "loose";
    const keep = (name) => name !== "__proto__" && define(result, name, input[name]);
    // Keys that can be listed are all wanted, and no others.
    const known = this.def.partial ? undefined : keyType._zod.values;
    if (known) {
      for (const key of known) if (/string|number|symbol/.test(typeof key)) entry(key, key);
      const keys = Object.keys(input).filter((key) => !known.has(key));
      if (loose) for (const key of keys) keep(key);
      else if (keys.length) payload.issues.push({ code: "unrecognized_keys", input, inst: this, keys });
      return pass.end();
    }
    for (const name of Reflect.ownKeys(input)) {
      if (name === "__proto__") continue;
      const key = keyType._zod.run({ value: name, issues: [] }, ctx);
      if (key instanceof Promise) throw new Error("Async schemas not supported in object keys currently");
      if (key.issues.length && loose) keep(name);
      else if (key.issues.length) {
        const issues = key.issues.map((issue) => finish(issue, ctx));
        payload.issues.push({
          code: "invalid_key",
          origin: "record",
          issues,
          input: name,
          path: [name],
          inst: this,
        });
        define(result, key.value, key.value);
      } else entry(name, key.value);
    }
    return pass.end();
  }
}

export class ZodMap extends ZodType {
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

expose(ZodRecord, "keyType", "valueType");
expose(ZodMap, "keyType", "valueType");

const create = (Kind, own, params) => new Kind(definition(own, params));

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
export const looseRecord = (keyType, valueType, params) =>
  create(ZodRecord, { type: "record", keyType, valueType, mode: "loose" }, params);
export const map = (keyType, valueType, params) =>
  create(ZodMap, { type: "map", keyType, valueType }, params);
export const set = (valueType, params) => create(ZodSet, { type: "set", valueType }, params);
