// What went wrong, and how it is said: issues, their English words, and the error that carries them.
// An issue stays "raw" (it names the schema that raised it) until the outermost parse finishes it, because
// only there is it known which custom message applies.

/** What `z.config` sets: a `customError` above the words of the locale, the locale itself. */
export const settings = {};

export function config(changes) {
  return Object.assign(settings, changes);
}

/** Names a value's type the way messages do. */
export function typeName(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isNaN(value)) return "NaN";
  if (typeof value === "object" && Object.getPrototypeOf(value) !== Object.prototype && value.constructor) {
    return value.constructor.name;
  }
  return typeof value;
}

function quoted(value) {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "string" ? `"${value}"` : `${String(value)}`;
}

const UNITS = { string: "characters", file: "bytes", array: "items", set: "items" };

const NOUNS = {
  regex: "input",
  template_literal: "input",
  email: "email address",
  url: "URL",
  uuid: "UUID",
  uuidv4: "UUIDv4",
  uuidv6: "UUIDv6",
  guid: "GUID",
  cuid: "cuid",
  ulid: "ULID",
  xid: "XID",
  ksuid: "KSUID",
  jwt: "JWT",
  datetime: "ISO datetime",
  date: "ISO date",
  time: "ISO time",
  duration: "ISO duration",
  ipv4: "IPv4 address",
  ipv6: "IPv6 address",
  cidrv4: "IPv4 range",
  cidrv6: "IPv6 range",
  base64: "base64-encoded string",
  base64url: "base64url-encoded string",
  json_string: "JSON string",
  e164: "E.164 number",
  mac: "MAC address",
};

function size(word, issue, sign, bound) {
  const unit = UNITS[issue.origin];
  const demand = unit ? `to have ${sign}${bound} ${unit}` : `to be ${sign}${bound}`;
  return `Too ${word}: expected ${issue.origin ?? "value"} ${demand}`;
}

/** The English words for an issue. */
export function english(issue) {
  switch (issue.code) {
    case "invalid_type":
      return `Invalid input: expected ${issue.expected}, received ${typeName(issue.input)}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `Invalid input: expected ${quoted(issue.values[0])}`
        : `Invalid option: expected one of ${issue.values.map(quoted).join("|")}`;
    case "too_big":
      return size("big", issue, issue.inclusive ? "<=" : "<", issue.maximum);
    case "too_small":
      return size("small", issue, issue.inclusive ? ">=" : ">", issue.minimum);
    case "invalid_format":
      if (issue.format === "starts_with") return `Invalid string: must start with "${issue.prefix}"`;
      if (issue.format === "ends_with") return `Invalid string: must end with "${issue.suffix}"`;
      if (issue.format === "includes") return `Invalid string: must include "${issue.includes}"`;
      if (issue.format === "regex") return `Invalid string: must match pattern ${issue.pattern}`;
      return `Invalid ${NOUNS[issue.format] ?? issue.format}`;
    case "not_multiple_of":
      return `Invalid number: must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `Unrecognized key${issue.keys.length > 1 ? "s" : ""}: ${issue.keys.map(quoted).join(", ")}`;
    case "invalid_key":
      return `Invalid key in ${issue.origin}`;
    case "invalid_element":
      return `Invalid value in ${issue.origin}`;
    case "invalid_union":
      return issue.inclusive === false ? "Invalid input: more than one option matched" : "Invalid input";
    default:
      return "Invalid input";
  }
}

/** `z.locales`: English only, as every other language would be parsed at each start for nobody. */
export const locales = { en: () => ({ localeError: english }) };

const wordsOf = (said) => (typeof said === "string" ? said : said?.message);

/** Turns a raw issue into the one people see. The nearest custom message wins. */
export function finish(raw, ctx) {
  const full = { ...raw, path: raw.path ?? [] };
  if (!raw.message) {
    full.message =
      wordsOf(raw.inst?._zod.def.error?.(raw)) ??
      wordsOf(ctx?.error?.(raw)) ??
      wordsOf(settings.customError?.(raw)) ??
      wordsOf((settings.localeError ?? english)(raw)) ??
      "Invalid input";
  }
  delete full.inst;
  // Later versions of the zod package name the schema under this key too.
  if (full.schema?._zod) delete full.schema;
  delete full.continue;
  if (!ctx?.reportInput) delete full.input;
  return full;
}

/** Reads the ways to give a message: a string, `{message}`, `{error}`, and zod 3's `*_error` names. */
export function normalize(params) {
  if (!params) return {};
  if (typeof params === "string") return { error: () => params };
  if (typeof params === "function") return { error: params };
  const { message, required_error: missing, invalid_type_error: wrong, ...rest } = params;
  if (message !== undefined) rest.error ??= message;
  if (rest.error === undefined && (missing !== undefined || wrong !== undefined)) {
    rest.error = (issue) => {
      if (issue.code === "invalid_type") return issue.input === undefined ? missing : wrong;
    };
  }
  const { error } = rest;
  if (typeof error === "string") rest.error = () => error;
  return rest;
}

export class ZodError extends Error {
  constructor(issues = []) {
    super();
    this.name = "ZodError";
    const plain = (_, value) => (typeof value === "bigint" ? value.toString() : value);
    Object.defineProperties(this, {
      issues: { value: issues, writable: true },
      _zod: { value: { def: issues } },
      // Made on demand: most errors are read by their issues only.
      message: { get: () => JSON.stringify(this.issues, plain, 2), enumerable: true, configurable: true },
    });
  }
  get errors() {
    return this.issues;
  }
  get isEmpty() {
    return this.issues.length === 0;
  }
  toString() {
    return this.message;
  }
  format(mapper) {
    return formatError(this, mapper);
  }
  flatten(mapper) {
    return flattenError(this, mapper);
  }
  addIssue(issue) {
    this.issues.push(issue);
  }
  addIssues(issues) {
    for (const issue of issues) this.issues.push(issue);
  }
}

export class ZodAsyncError extends Error {
  constructor() {
    super("Encountered Promise during synchronous parse. Use .parseAsync() instead.");
  }
}

export class ZodEncodeError extends Error {
  constructor(name) {
    super(`Encountered unidirectional transform during encode: ${name}`);
    this.name = "ZodEncodeError";
  }
}

const messageOf = (issue) => issue.message;

/** Visits every issue with its full path; those inside of unions, keys and elements, not what holds them. */
function visit(issues, base, leaf) {
  for (const issue of issues) {
    const path = [...base, ...issue.path];
    if (issue.code === "invalid_union" && issue.errors.length) {
      for (const branch of issue.errors) visit(branch, path, leaf);
    } else if (issue.code === "invalid_key" || issue.code === "invalid_element")
      visit(issue.issues, path, leaf);
    else leaf(issue, path);
  }
}

export function flattenError(error, mapper = messageOf) {
  const fieldErrors = {};
  const formErrors = [];
  for (const issue of error.issues) {
    if (issue.path.length) (fieldErrors[issue.path[0]] ??= []).push(mapper(issue));
    else formErrors.push(mapper(issue));
  }
  return { formErrors, fieldErrors };
}

export function formatError(error, mapper = messageOf) {
  const root = { _errors: [] };
  // Nested issues keep their own path here, without the path that leads to them: zod's format() does so too.
  const walk = (issues) => {
    for (const issue of issues) {
      if (issue.code === "invalid_union" && issue.errors.length) issue.errors.forEach(walk);
      else if (issue.code === "invalid_key" || issue.code === "invalid_element") walk(issue.issues);
      else {
        let at = root;
        for (const key of issue.path) {
          if (!Object.hasOwn(at, key)) define(at, key, { _errors: [] });
          at = at[key];
        }
        at._errors.push(mapper(issue));
      }
    }
  };
  walk(error.issues);
  return root;
}

export function treeifyError(error, mapper = messageOf) {
  const root = { errors: [] };
  visit(error.issues, [], (issue, path) => {
    let at = root;
    for (const key of path) {
      if (typeof key === "string") {
        at.properties ??= {};
        if (!Object.hasOwn(at.properties, key)) define(at.properties, key, { errors: [] });
        at = at.properties[key];
      } else {
        at.items ??= [];
        at = at.items[key] ??= { errors: [] };
      }
    }
    at.errors.push(mapper(issue));
  });
  return root;
}

/** Sets a key as data, also when it is called `__proto__`. */
export function define(object, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  } else object[key] = value;
}

export function pathText(path) {
  let text = "";
  for (const part of path) {
    const key = typeof part === "object" ? part.key : part;
    if (typeof key === "number") text += `[${key}]`;
    else if (typeof key === "symbol") text += `[${JSON.stringify(String(key))}]`;
    else if (/[^\w$]/.test(key)) text += `[${JSON.stringify(key)}]`;
    else text += text ? `.${key}` : key;
  }
  return text;
}

export function prettifyError(error) {
  const lines = [];
  for (const issue of [...error.issues].sort((a, b) => (a.path ?? []).length - (b.path ?? []).length)) {
    lines.push(`✖ ${issue.message}`);
    if (issue.path?.length) lines.push(`  → at ${pathText(issue.path)}`);
  }
  return lines.join("\n");
}
