// `@opencode-ai/plugin`: everything of it that exists at run time. Its other exports are types.
export { tool } from "./tool.js";
