// Deep comparison, strict (as `deepStrictEqual`) or loose (as `deepEqual`).
const tag = (value) => Object.prototype.toString.call(value);
const boxed = /^\[object (Number|String|Boolean|BigInt|Symbol)\]$/;

export function deepEqual(a, b, strict, seen = new Map()) {
  if (strict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true; // eslint-disable-line eqeqeq
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (tag(a) !== tag(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
  if (a instanceof RegExp && (String(a) !== String(b) || a.lastIndex !== b.lastIndex)) return false;
  if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
  if (boxed.test(tag(a)) && typeof a.valueOf() !== "object" && !Object.is(a.valueOf(), b.valueOf()))
    return false;
  if (a instanceof Promise || a instanceof WeakMap || a instanceof WeakSet) return false;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  const equal = sameBytes(a, b) && sameItems(a, b, strict, seen) && sameKeys(a, b, strict, seen);
  seen.delete(a);
  return equal;
}

function sameBytes(a, b) {
  if (a instanceof ArrayBuffer) [a, b] = [new Uint8Array(a), new Uint8Array(b)];
  if (!ArrayBuffer.isView(a)) return true;
  if (a.byteLength !== b.byteLength) return false;
  const left = new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
  const right = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
  return left.every((byte, i) => byte === right[i]);
}

function sameItems(a, b, strict, seen) {
  if (a instanceof Set) {
    if (a.size !== b.size) return false;
    const left = [...b];
    return [...a].every((item) => take(left, (other) => deepEqual(item, other, strict, seen)));
  }
  if (!(a instanceof Map)) return true;
  if (a.size !== b.size) return false;
  const left = [...b];
  return [...a].every(([key, value]) =>
    take(left, ([k, v]) => deepEqual(key, k, strict, seen) && deepEqual(value, v, strict, seen)),
  );
}

function take(list, matches) {
  const at = list.findIndex(matches);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}

function sameKeys(a, b, strict, seen) {
  if (ArrayBuffer.isView(a)) return true;
  if (Array.isArray(a) && a.length !== b.length) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  if (strict) {
    const symbols = (of) =>
      Object.getOwnPropertySymbols(of).filter((key) => Object.prototype.propertyIsEnumerable.call(of, key));
    if (symbols(a).length !== symbols(b).length) return false;
    keys.push(...symbols(a));
  }
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key], strict, seen));
}
