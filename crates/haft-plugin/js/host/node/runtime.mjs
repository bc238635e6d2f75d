// The runtime this is.
import * as bun from "./bun.mjs";
import * as node from "./node.mjs";

export const { prepare, importFile, importFor, filesRead } = globalThis.Bun ? bun : node;
