// Errors with Node's codes: programs test `error.code`, so the codes are part of the interface.
import { inspect } from "haft:node/parts/inspect";

export function coded(Kind, code, message, fields) {
  const error = new Kind(message);
  error.code = code;
  // Node shows the code in the stack's first line, but keeps it out of `name`.
  return Object.assign(error, fields);
}

function received(value) {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === "function") return ` Received function ${value.name}`;
  if (typeof value === "object") {
    return value.constructor?.name
      ? ` Received an instance of ${value.constructor.name}`
      : ` Received ${inspect(value, { depth: -1 })}`;
  }
  const shown = inspect(value);
  return ` Received type ${typeof value} (${shown.length > 28 ? `${shown.slice(0, 25)}...` : shown})`;
}

export const invalidType = (name, expected, value) =>
  coded(
    TypeError,
    "ERR_INVALID_ARG_TYPE",
    `The "${name}" ${name.includes(".") ? "property" : "argument"} must be ${expected}.${received(value)}`,
  );

export const invalidValue = (name, value, why = "is invalid") =>
  coded(
    TypeError,
    "ERR_INVALID_ARG_VALUE",
    `The ${name.includes(".") ? "property" : "argument"} '${name}' ${why}. Received ${inspect(value)}`,
  );

export const outOfRange = (name, range, value) =>
  coded(
    RangeError,
    "ERR_OUT_OF_RANGE",
    `The value of "${name}" is out of range. It must be ${range}. Received ${inspect(value)}`,
  );

export const unsupported = (what, instead) =>
  coded(
    Error,
    "ERR_UNSUPPORTED",
    `${what} is not offered by haft's own engine${instead ? `; ${instead}` : ""}`,
  );

export function mustBeString(name, value) {
  if (typeof value !== "string") throw invalidType(name, "of type string", value);
  return value;
}

export function mustBeFunction(name, value) {
  if (typeof value !== "function") throw invalidType(name, "of type function", value);
  return value;
}
