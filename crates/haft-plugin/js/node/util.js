// The module `util`.
import { internal } from "haft:ops";
import { deepEqual } from "haft:node/parts/deep-equal";
import { coded, invalidType, invalidValue, mustBeFunction } from "haft:node/parts/errors";
import { format, formatWithOptions } from "haft:node/parts/format";
import { inspect } from "haft:node/parts/inspect";
import { parseArgs } from "haft:node/parts/parse-args";
import { TextDecoder, TextEncoder } from "haft:web/text";
import types from "haft:node/util/types";

export { TextDecoder, TextEncoder, format, formatWithOptions, inspect, parseArgs, types };

const CUSTOM = Symbol.for("nodejs.util.promisify.custom");

export function promisify(original) {
  mustBeFunction("original", original);
  if (original[CUSTOM]) {
    const own = mustBeFunction("util.promisify.custom", original[CUSTOM]);
    return Object.defineProperty(own, CUSTOM, { value: own, configurable: true });
  }
  function promised(...args) {
    return new Promise((done, fail) => {
      original.call(this, ...args, (error, value) => {
        if (error) fail(error);
        else done(value);
      });
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  return Object.defineProperties(promised, {
    ...Object.getOwnPropertyDescriptors(original),
    [CUSTOM]: { value: promised, configurable: true },
  });
}
promisify.custom = CUSTOM;

export function callbackify(original) {
  mustBeFunction("original", original);
  return function (...args) {
    const callback = mustBeFunction("last argument", args.pop());
    original.apply(this, args).then(
      (value) => internal("node/process").default.nextTick(callback, null, value),
      (reason) => {
        const error =
          reason ||
          coded(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value", { reason });
        internal("node/process").default.nextTick(callback, error);
      },
    );
  };
}

export function inherits(child, parent) {
  mustBeFunction("ctor", child);
  mustBeFunction("superCtor", parent);
  Object.defineProperty(child, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

const warned = new Set();
export function deprecate(f, message, code) {
  return function (...args) {
    if (!warned.has(code ?? message)) {
      warned.add(code ?? message);
      internal("node/process").default.emitWarning(message, "DeprecationWarning", code);
    }
    return new.target ? Reflect.construct(f, args, new.target) : f.apply(this, args);
  };
}

export const isDeepStrictEqual = (a, b) => deepEqual(a, b, true);
export const stripVTControlCharacters = (text) =>
  // CSI sequences with their parameters, OSC sequences up to their end, and two-character escapes.
  text.replace(
    /[\u001b\u009b](?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[[()#;?]*(?:\d{1,4}(?:[;:]\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~])/g,
    "",
  );
export const toUSVString = (text) => String(text).toWellFormed();

const STYLES = {
  reset: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
  hidden: [8, 28],
  strikethrough: [9, 29],
  black: [30, 39],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  white: [37, 39],
  gray: [90, 39],
  grey: [90, 39],
  redBright: [91, 39],
  greenBright: [92, 39],
  yellowBright: [93, 39],
  blueBright: [94, 39],
  magentaBright: [95, 39],
  cyanBright: [96, 39],
  whiteBright: [97, 39],
  bgBlack: [40, 49],
  bgRed: [41, 49],
  bgGreen: [42, 49],
  bgYellow: [43, 49],
  bgBlue: [44, 49],
  bgMagenta: [45, 49],
  bgCyan: [46, 49],
  bgWhite: [47, 49],
};
// Node leaves the text plain where the stream is no terminal; the host never has one, so only
// `validateStream: false` colours.
export function styleText(styles, text, { validateStream = true } = {}) {
  let [before, after] = ["", ""];
  for (const name of [styles].flat()) {
    const style = STYLES[name];
    if (!style)
      throw invalidValue(
        "format",
        name,
        `must be one of: ${Object.keys(STYLES)
          .map((key) => `'${key}'`)
          .join(", ")}`,
      );
    before += `\x1b[${style[0]}m`;
    after = `\x1b[${style[1]}m${after}`;
  }
  return validateStream ? String(text) : before + text + after;
}

export function debuglog(section, ready) {
  const on = new RegExp(`(^|,)\\s*${section.replace("*", ".*")}\\s*(,|$)`, "i").test(
    internal("node/process").default.env.NODE_DEBUG ?? "",
  );
  const logger = (...args) => on && globalThis.console.error(`${section.toUpperCase()}: ${format(...args)}`);
  logger.enabled = on;
  ready?.(logger);
  return logger;
}
export const debug = debuglog;

export function aborted(signal, resource) {
  if (!signal) throw invalidType("signal", "an instance of AbortSignal", signal);
  if (resource === null || typeof resource !== "object")
    throw invalidType("resource", "of type object", resource);
  return signal.aborted
    ? Promise.resolve()
    : new Promise((done) => signal.addEventListener("abort", () => done(), { once: true }));
}

export function getSystemErrorName(errno) {
  return (
    Object.entries(internal("node/os").constants.errno).find(([, value]) => value === -errno)?.[0] ??
    `Unknown system error ${errno}`
  );
}

const is = (kind) => (value) => typeof value === kind;
export const isArray = Array.isArray;
export const isBoolean = is("boolean");
export const isString = is("string");
export const isNumber = is("number");
export const isFunction = is("function");
export const isUndefined = is("undefined");
export const isNull = (value) => value === null;
export const isObject = (value) => typeof value === "object" && value !== null;
export const isRegExp = types.isRegExp;
export const isDate = types.isDate;
export const isError = (value) => value instanceof Error;

export default {
  TextDecoder,
  TextEncoder,
  aborted,
  callbackify,
  debug,
  debuglog,
  deprecate,
  format,
  formatWithOptions,
  getSystemErrorName,
  inherits,
  inspect,
  isArray,
  isBoolean,
  isDate,
  isDeepStrictEqual,
  isError,
  isFunction,
  isNull,
  isNumber,
  isObject,
  isRegExp,
  isString,
  isUndefined,
  parseArgs,
  promisify,
  stripVTControlCharacters,
  styleText,
  toUSVString,
  types,
};
