// Where descriptions live: beside the schemas, not in them, so that one schema can be described in several
// places.

export class ZodRegistry {
  #metas = new WeakMap();
  _idmap = new Map();
  // Kept for those who convert a whole registry; a WeakMap cannot be listed.
  _map = new Map();

  add(schema, meta) {
    if (meta && typeof meta === "object" && "id" in meta) {
      if (this._idmap.has(meta.id)) throw new Error(`ID ${meta.id} already exists in the registry`);
      this._idmap.set(meta.id, schema);
    }
    this.#metas.set(schema, meta);
    if (this !== globalRegistry) this._map.set(schema, meta);
    return this;
  }
  get(schema) {
    const { parent } = schema._zod;
    if (!parent) return this.#metas.get(schema);
    const { id: _, ...inherited } = this.get(parent) ?? {};
    const all = { ...inherited, ...this.#metas.get(schema) };
    return Object.keys(all).length ? all : undefined;
  }
  has(schema) {
    return this.#metas.has(schema);
  }
  remove(schema) {
    const meta = this.#metas.get(schema);
    if (meta && typeof meta === "object" && "id" in meta) this._idmap.delete(meta.id);
    this.#metas.delete(schema);
    this._map.delete(schema);
    return this;
  }
  clear() {
    this.#metas = new WeakMap();
    this._idmap.clear();
    this._map.clear();
    return this;
  }
}

export const registry = () => new ZodRegistry();
export const globalRegistry = registry();
