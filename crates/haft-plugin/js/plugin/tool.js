// `@opencode-ai/plugin/tool`: how a tool file says what it is. The function only marks the place (and gives
// editors types); what is asked of a definition is asked by the host that loads it.
import { z } from "zod";

export function tool(definition) {
  return definition;
}
tool.schema = z;
