// `assert`. Messages say what differs; they do not reproduce Node's coloured diff.
import { deepEqual as same } from "haft:node/parts/deep-equal";
import { coded, invalidType } from "haft:node/parts/errors";
import { inspect } from "haft:node/parts/inspect";

export class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message);
    this.name = "AssertionError";
    this.code = "ERR_ASSERTION";
    this.generatedMessage = false;
    Object.assign(this, { actual, expected, operator });
  }
}

function refuse(message, standard, fields) {
  if (message instanceof Error) throw message;
  const error = new AssertionError({ message: message ?? standard, ...fields });
  error.generatedMessage = message === undefined;
  throw error;
}

const compared = (title, a, b) => `${title}\n\n${inspect(a, { depth: 8 })} !== ${inspect(b, { depth: 8 })}\n`;
const test = (operator, holds, title) => (actual, expected, message) => {
  if (!holds(actual, expected))
    refuse(message, compared(title, actual, expected), { actual, expected, operator });
};

export function ok(value, message) {
  if (arguments.length === 0)
    refuse(undefined, "No value argument passed to `assert.ok()`", {
      actual: undefined,
      expected: true,
      operator: "==",
    });
  if (!value)
    refuse(message, "The expression evaluated to a falsy value", {
      actual: value,
      expected: true,
      operator: "==",
    });
}
export const equal = test(
  "==",
  (a, b) => a == b || (a !== a && b !== b),
  "Expected values to be loosely equal:",
); // eslint-disable-line eqeqeq
export const notEqual = test(
  "!=",
  (a, b) => a != b && (a === a || b === b),
  'Expected "actual" to be loosely unequal to:',
); // eslint-disable-line eqeqeq
export const strictEqual = test("strictEqual", Object.is, "Expected values to be strictly equal:");
export const notStrictEqual = test(
  "notStrictEqual",
  (a, b) => !Object.is(a, b),
  'Expected "actual" to be strictly unequal to:',
);
export const deepEqual = test(
  "deepEqual",
  (a, b) => same(a, b, false),
  "Expected values to be loosely deep-equal:",
);
export const notDeepEqual = test(
  "notDeepEqual",
  (a, b) => !same(a, b, false),
  'Expected "actual" not to be loosely deep-equal to:',
);
export const deepStrictEqual = test(
  "deepStrictEqual",
  (a, b) => same(a, b, true),
  "Expected values to be strictly deep-equal:",
);
export const notDeepStrictEqual = test(
  "notDeepStrictEqual",
  (a, b) => !same(a, b, true),
  'Expected "actual" not to be strictly deep-equal to:',
);

export function fail(message = "Failed") {
  refuse(message, "Failed", { operator: "fail" });
}

// Does the error fit: a class, a pattern, a test function, or an object whose fields it must have?
function fits(error, expected, message, operator) {
  if (expected === undefined) return;
  const wrong = (why) => refuse(message, why, { actual: error, expected, operator });
  if (expected instanceof RegExp) {
    if (!expected.test(String(error)))
      wrong(
        `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`,
      );
  } else if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Error.isPrototypeOf(expected) || expected === Error) throw error;
    if (expected.call({}, error) !== true)
      wrong(
        `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true".`,
      );
  } else {
    const keys =
      expected instanceof Error ? [...Object.keys(expected), "name", "message"] : Object.keys(expected);
    for (const key of keys) {
      const matches =
        expected[key] instanceof RegExp && typeof error?.[key] === "string"
          ? expected[key].test(error[key])
          : same(error?.[key], expected[key], true);
      if (!matches) wrong(compared(`Expected the error's "${key}":`, error?.[key], expected[key]));
    }
  }
}
const split = (expected, message) =>
  typeof expected === "string" ? [undefined, expected] : [expected, message];
const missing = (kind, expected, message) =>
  refuse(
    message instanceof Error ? message : undefined,
    `Missing expected ${kind}${expected?.name ? ` (${expected.name})` : ""}${message ? `: ${message}` : "."}`,
    { expected, operator: kind === "rejection" ? "rejects" : "throws" },
  );

export function throws(f, expectation, note) {
  if (typeof f !== "function") throw invalidType("fn", "of type function", f);
  const [expected, message] = split(expectation, note);
  let error;
  try {
    f();
  } catch (thrown) {
    error = { thrown };
  }
  if (!error) missing("exception", expected, message);
  fits(error.thrown, expected, message, "throws");
}
export function doesNotThrow(f, expectation, note) {
  const [, message] = split(expectation, note);
  try {
    f();
  } catch (error) {
    refuse(
      undefined,
      `Got unwanted exception${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`,
      { actual: error, operator: "doesNotThrow" },
    );
  }
}
const promiseOf = (source) => {
  const promise = typeof source === "function" ? source() : source;
  if (typeof promise?.then !== "function")
    throw coded(
      TypeError,
      "ERR_INVALID_RETURN_VALUE",
      'Expected instance of Promise to be returned from the "promiseFn" function',
    );
  return promise;
};
export async function rejects(source, expectation, note) {
  const [expected, message] = split(expectation, note);
  let error;
  try {
    await promiseOf(source);
  } catch (thrown) {
    error = { thrown };
  }
  if (!error) missing("rejection", expected, message);
  fits(error.thrown, expected, message, "rejects");
}
export async function doesNotReject(source, expectation, note) {
  try {
    await promiseOf(source);
  } catch (error) {
    refuse(undefined, `Got unwanted rejection.\nActual message: "${error?.message}"`, {
      actual: error,
      operator: "doesNotReject",
    });
  }
}
export function match(text, pattern, message) {
  if (typeof text !== "string" || !pattern.test(text)) {
    refuse(
      message,
      `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`,
      { actual: text, expected: pattern, operator: "match" },
    );
  }
}
export function doesNotMatch(text, pattern, message) {
  if (typeof text === "string" && pattern.test(text)) {
    refuse(
      message,
      `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`,
      { actual: text, expected: pattern, operator: "doesNotMatch" },
    );
  }
}
export function ifError(value) {
  if (value === null || value === undefined) return;
  refuse(undefined, `ifError got unwanted exception: ${value?.message ?? inspect(value)}`, {
    actual: value,
    expected: null,
    operator: "ifError",
  });
}

const shared = {
  AssertionError,
  deepStrictEqual,
  doesNotMatch,
  doesNotReject,
  doesNotThrow,
  fail,
  ifError,
  match,
  notDeepStrictEqual,
  notStrictEqual,
  ok,
  rejects,
  strictEqual,
  throws,
};
const assert = Object.assign((...args) => ok(...args), {
  ...shared,
  deepEqual,
  equal,
  notDeepEqual,
  notEqual,
});
export const strict = Object.assign((...args) => ok(...args), {
  ...shared,
  deepEqual: deepStrictEqual,
  equal: strictEqual,
  notDeepEqual: notDeepStrictEqual,
  notEqual: notStrictEqual,
});
assert.strict = strict.strict = strict;
export default assert;
