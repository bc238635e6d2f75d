// What each kind of schema becomes in JSON Schema, without regard to sharing and recursion (json-schema.js
// does those).

const FORMATS = { guid: "uuid", url: "uri", datetime: "date-time", json_string: "json-string", regex: "" };
const UNREPRESENTABLE = {
  bigint: "BigInt",
  symbol: "Symbols",
  undefined: "Undefined",
  void: "Void",
  date: "Date",
  map: "Map",
  set: "Set",
  custom: "Custom types",
  function: "Function types",
  transform: "Transforms",
  nan: "NaN",
};

/** The base of the converter: fills the node of a schema. `inside` converts a schema that stands in it. */
export class Kinds {
  constructor(options) {
    this.options = options;
    this.io = options.io ?? "output";
    this.target =
      { "draft-07": "draft-7", "draft-04": "draft-4" }[options.target] ?? options.target ?? "draft-2020-12";
  }
  get modern() {
    return this.target === "draft-2020-12";
  }
  impossible(what) {
    if ((this.options.unrepresentable ?? "throw") === "throw") {
      throw new Error(`${what} cannot be represented in JSON Schema`);
    }
  }

  fill(schema, node, inside) {
    const { def } = schema._zod;
    const { json } = node;
    const borrow = (inner) => {
      inside(inner);
      node.borrows = inner;
    };
    switch (def.type) {
      case "string":
        return this.string(schema, json);
      case "number":
        return this.number(schema, json);
      case "boolean":
        json.type = "boolean";
        return;
      case "null":
        this.nothing(json);
        return;
      case "any":
      case "unknown":
        return;
      case "never":
        json.not = {};
        return;
      case "array": {
        const { minimum, maximum } = schema._zod.bag;
        if (typeof minimum === "number") json.minItems = minimum;
        if (typeof maximum === "number") json.maxItems = maximum;
        json.type = "array";
        json.items = inside(def.element, "items");
        return;
      }
      case "object":
        return this.object(schema, json, inside);
      case "union":
        json[def.inclusive === false ? "oneOf" : "anyOf"] = def.options.map((option, i) =>
          inside(option, "anyOf", i),
        );
        return;
      case "intersection": {
        const sides = [inside(def.left, "allOf", 0), inside(def.right, "allOf", 1)];
        const nested = (side) => "allOf" in side && Object.keys(side).length === 1;
        json.allOf = sides.flatMap((side) => (nested(side) ? side.allOf : [side]));
        return;
      }
      case "tuple":
        return this.tuple(schema, json, inside);
      case "record":
        return this.record(schema, json, inside);
      case "enum":
        this.values(json, [...schema._zod.values]);
        return;
      case "literal":
        this.literal(json, def.values);
        return;
      case "file":
        this.file(schema, json);
        return;
      case "template_literal":
        json.type = "string";
        json.pattern = schema._zod.pattern.source;
        return;
      case "nullable": {
        const inner = inside(def.innerType);
        if (this.target === "openapi-3.0") {
          node.borrows = def.innerType;
          json.nullable = true;
        } else json.anyOf = [inner, { type: "null" }];
        return;
      }
      case "default":
        borrow(def.innerType);
        json.default = JSON.parse(JSON.stringify(def.defaultValue));
        return;
      case "prefault":
        borrow(def.innerType);
        if (this.io === "input") node.prefault = JSON.parse(JSON.stringify(def.defaultValue));
        return;
      case "catch":
        borrow(def.innerType);
        try {
          json.default = def.catchValue(undefined);
        } catch {
          throw new Error("Dynamic catch values are not supported in JSON Schema");
        }
        return;
      case "readonly":
        borrow(def.innerType);
        json.readOnly = true;
        return;
      case "optional":
      case "nonoptional":
      case "promise":
        borrow(def.innerType);
        return;
      case "lazy":
        borrow(schema.unwrap?.() ?? schema._zod.innerType);
        return;
      case "pipe":
        borrow(this.io === "input" && def.in._zod.def.type !== "transform" ? def.in : def.out);
        return;
      case "success":
        json.type = "boolean";
        return;
      default:
        this.impossible(UNREPRESENTABLE[def.type] ?? def.type);
    }
  }

  string(schema, json) {
    json.type = "string";
    const { minimum, maximum, format, patterns, contentEncoding } = schema._zod.bag;
    if (typeof minimum === "number") json.minLength = minimum;
    if (typeof maximum === "number") json.maxLength = maximum;
    if (format) json.format = FORMATS[format] ?? format;
    if (json.format === "") delete json.format;
    if (contentEncoding) json.contentEncoding = contentEncoding;
    const all = [...(patterns ?? [])];
    if (all.length === 1) json.pattern = all[0].source;
    else if (all.length) {
      json.allOf = all.map(({ source }) => ({ ...(this.modern ? {} : { type: "string" }), pattern: source }));
    }
  }
  number(schema, json) {
    const { minimum, maximum, format, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema._zod.bag;
    json.type = typeof format === "string" && format.includes("int") ? "integer" : "number";
    // Older dialects say "exclusive" with a flag beside the bound.
    const flags = this.target === "draft-4" || this.target === "openapi-3.0";
    const bound = (name, exclusiveName, value, exclusive, keepsExclusive) => {
      if (typeof exclusive === "number") {
        if (flags) Object.assign(json, { [name]: exclusive, [exclusiveName]: true });
        else json[exclusiveName] = exclusive;
      }
      if (typeof value === "number") {
        json[name] = value;
        if (typeof exclusive === "number" && !flags) delete json[keepsExclusive ? name : exclusiveName];
      }
    };
    bound("minimum", "exclusiveMinimum", minimum, exclusiveMinimum, exclusiveMinimum >= minimum);
    bound("maximum", "exclusiveMaximum", maximum, exclusiveMaximum, exclusiveMaximum <= maximum);
    if (typeof multipleOf === "number") json.multipleOf = multipleOf;
  }
  nothing(json) {
    if (this.target === "openapi-3.0") Object.assign(json, { type: "string", nullable: true, enum: [null] });
    else json.type = "null";
  }
  object(schema, json, inside) {
    const { shape, catchall } = schema._zod.def;
    json.type = "object";
    json.properties = {};
    const required = [];
    for (const key of Object.keys(shape)) {
      json.properties[key] = inside(shape[key], "properties", key);
      const { optin, optout } = shape[key]._zod;
      if ((this.io === "input" ? optin : optout) === undefined) required.push(key);
    }
    if (required.length) json.required = required;
    if (catchall ? catchall._zod.def.type === "never" : this.io === "output")
      json.additionalProperties = false;
    else if (catchall) json.additionalProperties = inside(catchall, "additionalProperties");
  }
  record(schema, json, inside) {
    const { keyType, valueType, mode } = schema._zod.def;
    json.type = "object";
    const patterns = [...(keyType._zod.bag?.patterns ?? [])];
    if (mode === "loose" && patterns.length) {
      const value = inside(valueType, "patternProperties");
      json.patternProperties = Object.fromEntries(patterns.map(({ source }) => [source, value]));
      return;
    }
    if (this.modern || this.target === "draft-7") json.propertyNames = inside(keyType, "propertyNames");
    json.additionalProperties = inside(valueType, "additionalProperties");
  }
  tuple(schema, json, inside) {
    const { items, rest } = schema._zod.def;
    json.type = "array";
    const [head, tail] = this.modern ? ["prefixItems", "items"] : ["items", "additionalItems"];
    const fixed = items.map((item, i) => inside(item, head, i));
    const more = rest && inside(rest, tail);
    if (this.target === "openapi-3.0") {
      json.items = { anyOf: more ? [...fixed, more] : fixed };
      json.minItems = fixed.length;
      if (!more) json.maxItems = fixed.length;
    } else {
      json[head] = fixed;
      if (more) json[tail] = more;
    }
    const { minimum, maximum } = schema._zod.bag;
    if (typeof minimum === "number") json.minItems = minimum;
    if (typeof maximum === "number") json.maxItems = maximum;
  }
  values(json, values) {
    for (const type of ["number", "string"])
      if (values.every((value) => typeof value === type)) json.type = type;
    json.enum = values;
  }
  literal(json, given) {
    const values = [];
    for (const value of given) {
      if (value === undefined) this.impossible("Literal `undefined`");
      else if (typeof value === "bigint") {
        this.impossible("BigInt literals");
        values.push(Number(value));
      } else values.push(value);
    }
    if (values.length === 1) {
      json.type = values[0] === null ? "null" : typeof values[0];
      if (this.target === "draft-4" || this.target === "openapi-3.0") json.enum = values;
      else json.const = values[0];
    } else if (values.length) {
      for (const type of ["number", "string", "boolean"]) {
        if (values.every((value) => typeof value === type)) json.type = type;
      }
      if (values.every((value) => value === null)) json.type = "null";
      json.enum = values;
    }
  }
  file(schema, json) {
    const { minimum, maximum, mime } = schema._zod.bag;
    const any = { type: "string", format: "binary", contentEncoding: "binary" };
    if (minimum !== undefined) any.minLength = minimum;
    if (maximum !== undefined) any.maxLength = maximum;
    const kinds = (mime ?? []).map((contentMediaType) => ({ ...any, contentMediaType }));
    Object.assign(json, kinds.length > 1 ? { anyOf: kinds } : (kinds[0] ?? any));
  }
}
