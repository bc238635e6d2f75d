// Schemas as JSON Schema: what a model is shown of a tool's arguments. Each schema is converted once into a
// node; schemas that contain themselves, carry an `id`, or (when asked for) occur twice move to `$defs`. A
// wrapper's node borrows from the node of what it wraps, at the very end, because only then is known whether
// that one became a reference.
import { Kinds } from "./json-kinds.js";
import { globalRegistry, ZodRegistry } from "./registry.js";
import { ZodType } from "./type.js";

const DIALECTS = {
  "draft-2020-12": "https://json-schema.org/draft/2020-12/schema",
  "draft-7": "http://json-schema.org/draft-07/schema#",
  "draft-4": "http://json-schema.org/draft-04/schema#",
};
class Converter extends Kinds {
  constructor(options = {}) {
    super(options);
    this.metadata = options.metadata ?? globalRegistry;
    this.nodes = new Map();
    this.unnamed = 0;
  }

  /** Converts a schema, or finds it converted. `above` are the schemas it stands in. */
  node(schema, above = [], path = []) {
    const known = this.nodes.get(schema);
    if (known) {
      known.count++;
      if (above.includes(schema)) known.cycle = path;
      return known.json;
    }
    const node = { json: {}, count: 1, path };
    this.nodes.set(schema, node);
    const inside = (child, ...steps) => this.node(child, [...above, schema], [...path, ...steps]);
    const { parent } = schema._zod;
    const own = schema._zod.toJSONSchema?.();
    if (own) node.json = own;
    else if (parent) {
      // A copy made by `describe` or `meta`: all but the words comes from the original.
      node.borrows = parent;
      this.node(parent, [...above, schema], path);
      this.nodes.get(parent).hidden = true;
    } else this.fill(schema, node, inside);
    const meta = this.metadata.get(schema) ?? this.foreign(schema);
    if (meta) Object.assign(node.json, meta);
    if (this.io === "input" && transforms(schema)) {
      delete node.json.examples;
      delete node.json.default;
    }
    if (this.io === "input" && node.prefault !== undefined) node.json.default ??= node.prefault;
    return node.json;
  }

  /** The words of a schema made by another copy of zod, which keeps them in a registry of its own. */
  foreign(schema) {
    if (this.metadata === globalRegistry && !(schema instanceof ZodType)) return schema.meta?.();
  }
  /** Moves what must be shared to definitions, lets nodes borrow, and gives the finished document. */
  emit(root, external) {
    const section = this.modern ? "$defs" : "definitions";
    const defs = {};
    const move = (schema, node) => {
      if (node.json.$ref) return;
      const id = this.metadata.get(schema)?.id;
      const shared = external?.idOf(schema);
      let name;
      let $ref = "#";
      if (shared) $ref = external.uri(shared);
      else if (schema !== root) {
        name = id ?? `__schema${external ? external.count++ : this.unnamed++}`;
        $ref = external ? `${external.uri("__shared")}#/${section}/${name}` : `#/${section}/${name}`;
      }
      node.def = { ...node.json };
      if (name) node.name = name;
      for (const key of Object.keys(node.json)) delete node.json[key];
      node.json.$ref = $ref;
    };
    for (const [schema, node] of this.nodes) {
      if (node.cycle && this.options.cycles === "throw") {
        const at = `#/${node.cycle.join("/")}/<root>`;
        throw new Error(
          `Cycle detected: ${at}\n\n` +
            'Set the `cycles` parameter to `"ref"` to resolve cyclical schemas with defs.',
        );
      }
      const id = this.metadata.get(schema)?.id;
      const twice = node.count > 1 && this.options.reused === "ref";
      if (schema === root || (external && external.idOf(schema)) || id || node.cycle || twice)
        move(schema, node);
    }
    for (const schema of [...this.nodes.keys()].reverse()) this.lend(schema);
    const top = this.nodes.get(root);
    const result = {};
    if (DIALECTS[this.target]) result.$schema = DIALECTS[this.target];
    const rootId = external?.idOf(root);
    if (rootId && this.options.uri) result.$id = external.uri(rootId);
    Object.assign(result, top.def);
    const shelf = external?.defs ?? defs;
    for (const node of this.nodes.values()) if (node.def && node.name) shelf[node.name] = node.def;
    if (!external && Object.keys(defs).length) result[section] = defs;
    return JSON.parse(JSON.stringify(result));
  }
  /** Lets a node take over what the wrapped schema says, under its own words. */
  lend(schema) {
    const node = this.nodes.get(schema);
    if (node.lent) return;
    node.lent = true;
    const json = node.def ?? node.json;
    if (node.borrows) {
      this.lend(node.borrows);
      const own = { ...json };
      const from = this.nodes.get(node.borrows).json;
      if (from.$ref && !this.modern) (json.allOf ??= []).push(from);
      else Object.assign(json, from, own);
    }
    if (!node.hidden) this.options.override?.({ zodSchema: schema, jsonSchema: json, path: node.path });
  }
}

/** True when parsing gives something else than was put in, so that examples of the output mislead. */
function transforms(schema, seen = new Set()) {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { def } = schema._zod;
  const inside = (...children) => children.some((child) => child && transforms(child, seen));
  switch (def.type) {
    case "transform":
      return true;
    case "array":
      return inside(def.element);
    case "object":
      return inside(...Object.values(def.shape));
    case "union":
      return inside(...def.options);
    case "intersection":
      return inside(def.left, def.right);
    case "tuple":
      return inside(...def.items, def.rest);
    case "record":
    case "map":
      return inside(def.keyType, def.valueType);
    case "set":
      return inside(def.valueType);
    case "pipe":
      return inside(def.in, def.out);
    case "lazy":
      return inside(def.getter());
    // What is caught comes out as it is told, whatever happens inside.
    case "catch":
      return false;
    default:
      return inside(def.innerType);
  }
}

export function toJSONSchema(input, options) {
  if (!(input instanceof ZodRegistry)) {
    const converter = new Converter(options);
    converter.node(input);
    return converter.emit(input);
  }
  // A registry becomes one document per id; what they share goes to a document of its own.
  const converter = new Converter(options);
  for (const schema of input._idmap.values()) converter.node(schema);
  const external = {
    idOf: (schema) => input.get(schema)?.id,
    uri: options?.uri ?? ((id) => id),
    defs: {},
    count: 0,
  };
  const schemas = {};
  for (const [id, schema] of input._idmap) schemas[id] = converter.emit(schema, external);
  if (Object.keys(external.defs).length) {
    schemas.__shared = { [converter.modern ? "$defs" : "definitions"]: external.defs };
  }
  return { schemas };
}
