// Everything `z` has.
import { ZodError } from "./issues.js";
import { toJSONSchema } from "./json-schema.js";
import { bigint, date, number } from "./numbers.js";
import * as regexes from "./regexes.js";
import { boolean } from "./scalars.js";
import { string } from "./text.js";
import { wrap } from "./type.js";

wrap.toJSONSchema = toJSONSchema;

export * from "./text.js";
export * from "./numbers.js";
export * from "./scalars.js";
export * from "./objects.js";
export * from "./containers.js";
export * from "./choices.js";
export * from "./wrappers.js";
export * from "./functions.js";
export {
  endsWith,
  gt,
  gte,
  includes,
  length,
  lowercase,
  lt,
  lte,
  maxLength,
  maxSize,
  mime,
  minLength,
  minSize,
  multipleOf,
  negative,
  nonnegative,
  nonpositive,
  normalizeText as normalize,
  overwrite,
  positive,
  property,
  regex,
  size,
  slugify,
  startsWith,
  toLowerCase,
  toUpperCase,
  trim,
  uppercase,
} from "./checks.js";
export {
  config,
  flattenError,
  formatError,
  locales,
  prettifyError,
  treeifyError,
  ZodError,
} from "./issues.js";
export { globalRegistry, registry, ZodRegistry } from "./registry.js";
export {
  clone,
  decode,
  decodeAsync,
  encode,
  encodeAsync,
  getErrorMap,
  parse,
  parseAsync,
  safeDecode,
  safeDecodeAsync,
  safeEncode,
  safeEncodeAsync,
  safeParse,
  safeParseAsync,
  setErrorMap,
  ZodType,
} from "./type.js";
export { regexes, toJSONSchema };
export { _default as default } from "./wrappers.js";
export { ZodError as ZodRealError };
export const $brand = Symbol("zod_brand");
export const $input = Symbol("ZodInput");
export const $output = Symbol("ZodOutput");
export const ZodFirstPartyTypeKind = {};
export const NEVER = Object.freeze({ status: "aborted" });
export const TimePrecision = { Any: null, Minute: -1, Second: 0, Millisecond: 3, Microsecond: 6 };
export const ZodIssueCode = {
  invalid_type: "invalid_type",
  too_big: "too_big",
  too_small: "too_small",
  invalid_format: "invalid_format",
  not_multiple_of: "not_multiple_of",
  unrecognized_keys: "unrecognized_keys",
  invalid_union: "invalid_union",
  invalid_key: "invalid_key",
  invalid_element: "invalid_element",
  invalid_value: "invalid_value",
  custom: "custom",
};

const coerced = (make) => (params) => {
  const schema = make(params);
  schema.def.coerce = true;
  return schema;
};
/** `z.coerce`. */
export const coerce = {
  string: coerced(string),
  number: coerced(number),
  boolean: coerced(boolean),
  bigint: coerced(bigint),
  date: coerced(date),
};
