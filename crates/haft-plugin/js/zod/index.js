// `zod`: haft's own implementation of what tools use of it, so that a tool needs no installed packages.
// Import it as `z` by name, by default or as a whole.
import * as z from "./all.js";

export * from "./all.js";
export { z };
export default z;
