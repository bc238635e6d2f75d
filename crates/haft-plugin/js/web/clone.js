// structuredClone: a deep copy that keeps cycles and the language's own kinds of objects; functions and the
// like are refused.
import { DOMException } from "haft:web/dom-exception";

const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const refuse = (value) => {
  const shown =
    typeof value === "symbol" || typeof value === "function"
      ? String(value)
      : Object.prototype.toString.call(value);
  throw new DOMException(`${shown} could not be cloned.`, "DataCloneError");
};

function copy(value, seen) {
  if (typeof value === "symbol" || typeof value === "function") refuse(value);
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const remember = (made) => (seen.set(value, made), made);
  const kind = Object.prototype.toString.call(value).slice(8, -1);

  if (ArrayBuffer.isView(value)) {
    const buffer = copy(value.buffer, seen);
    const length = kind === "DataView" ? value.byteLength : value.length;
    return remember(new globalThis[kind](buffer, value.byteOffset, length));
  }
  if (value instanceof Date) return remember(new Date(value.getTime()));
  if (value instanceof RegExp) return remember(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return remember(value.slice(0));
  if (["Boolean", "Number", "String", "BigInt"].includes(kind) && typeof value.valueOf() !== "object")
    return remember(Object(value.valueOf()));
  if (value instanceof Map) {
    const out = remember(new Map());
    for (const [key, item] of [...value]) out.set(copy(key, seen), copy(item, seen));
    return out;
  }
  if (value instanceof Set) {
    const out = remember(new Set());
    for (const item of [...value]) out.add(copy(item, seen));
    return out;
  }
  if (value instanceof Error) {
    const made = remember(new (ERRORS[value.name] ?? Error)(value.message));
    if (value.stack !== undefined)
      Object.defineProperty(made, "stack", {
        value: String(value.stack),
        writable: true,
        configurable: true,
      });
    if ("cause" in value)
      Object.defineProperty(made, "cause", {
        value: copy(value.cause, seen),
        writable: true,
        configurable: true,
      });
    return made;
  }
  if (
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    value instanceof WeakRef ||
    value instanceof Promise
  )
    refuse(value);
  const out = remember(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) out[key] = copy(value[key], seen);
  return out;
}

export function structuredClone(value, options) {
  if (arguments.length === 0) throw new TypeError('The "value" argument must be specified');
  for (const item of options?.transfer ?? []) if (!(item instanceof ArrayBuffer)) refuse(item);
  const made = copy(value, new Map());
  for (const item of options?.transfer ?? []) item.transfer?.();
  return made;
}
