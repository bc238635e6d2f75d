// Numbers in a Buffer: read and write in both byte orders, made from one table instead of sixty methods by
// hand.
import { coded, invalidType, outOfRange } from "haft:node/parts/errors";

const KINDS = [
  ["UInt8", "Uint8", 1],
  ["Int8", "Int8", 1],
  ["UInt16", "Uint16", 2],
  ["Int16", "Int16", 2],
  ["UInt32", "Uint32", 4],
  ["Int32", "Int32", 4],
  ["Float", "Float32", 4],
  ["Double", "Float64", 8],
  ["BigInt64", "BigInt64", 8],
  ["BigUInt64", "BigUint64", 8],
];

function mustFit(buffer, offset, size) {
  if (typeof offset !== "number") throw invalidType("offset", "of type number", offset);
  if (!Number.isInteger(offset)) throw outOfRange("offset", "an integer", offset);
  if (size > buffer.length)
    throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  if (offset < 0 || offset + size > buffer.length)
    throw outOfRange("offset", `>= 0 and <= ${buffer.length - size}`, offset);
}

function mustHold(value, low, high, shown) {
  if (value > high || value < low) throw outOfRange("value", shown ?? `>= ${low} and <= ${high}`, value);
}

function mustHoldKind(kind, size, value) {
  if (kind.startsWith("BigInt"))
    mustHold(value, -(2n ** 63n), 2n ** 63n - 1n, ">= -(2n ** 63n) and < 2n ** 63n");
  else if (kind.startsWith("BigUInt")) mustHold(value, 0n, 2n ** 64n - 1n, ">= 0n and < 2n ** 64n");
  else if (kind.startsWith("UInt")) mustHold(value, 0, 2 ** (8 * size) - 1);
  else if (kind.startsWith("Int")) mustHold(value, -(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1);
}

const dataOf = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

function variable(signed, little) {
  const at = (i, size) => (little ? i : size - 1 - i);
  return {
    read(offset, size) {
      mustFit(this, offset, size);
      let value = 0;
      for (let i = size - 1; i >= 0; i--) value = value * 256 + this[offset + at(i, size)];
      return signed && value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
    },
    write(value, offset, size) {
      mustFit(this, offset, size);
      mustHoldKind(signed ? "Int" : "UInt", size, value);
      let left = value < 0 ? value + 2 ** (8 * size) : value;
      for (let i = 0; i < size; i++) {
        this[offset + at(i, size)] = left % 256;
        left = Math.floor(left / 256);
      }
      return offset + size;
    },
  };
}

function swap(size) {
  return function () {
    if (this.length % size)
      throw coded(
        RangeError,
        "ERR_INVALID_BUFFER_SIZE",
        `Buffer size must be a multiple of ${size * 8}-bits`,
      );
    for (let i = 0; i < this.length; i += size) this.subarray(i, i + size).reverse();
    return this;
  };
}

export function numberMethods() {
  const methods = { swap16: swap(2), swap32: swap(4), swap64: swap(8) };
  for (const [kind, view, size] of KINDS) {
    for (const [order, little] of size === 1
      ? [["", true]]
      : [
          ["LE", true],
          ["BE", false],
        ]) {
      methods[`read${kind}${order}`] = function (offset = 0) {
        mustFit(this, offset, size);
        return dataOf(this)[`get${view}`](offset, little);
      };
      methods[`write${kind}${order}`] = function (value, offset = 0) {
        mustFit(this, offset, size);
        mustHoldKind(kind, size, value);
        dataOf(this)[`set${view}`](offset, value, little);
        return offset + size;
      };
    }
  }
  for (const [name, signed] of [
    ["UInt", false],
    ["Int", true],
  ]) {
    for (const [order, little] of [
      ["LE", true],
      ["BE", false],
    ]) {
      const both = variable(signed, little);
      methods[`read${name}${order}`] = both.read;
      methods[`write${name}${order}`] = both.write;
    }
  }
  for (const name of Object.keys(methods))
    if (name.includes("UInt")) methods[name.replace("UInt", "Uint")] = methods[name];
  return Object.fromEntries(
    Object.entries(methods).map(([name, value]) => [
      name,
      { value, writable: true, configurable: true, enumerable: false },
    ]),
  );
}
