// The module `https`: requests only.
import { client } from "haft:node/parts/http";

const https = client("https:");
export const {
  Agent,
  ClientRequest,
  IncomingMessage,
  METHODS,
  STATUS_CODES,
  createServer,
  get,
  globalAgent,
  request,
} = https;
export default https;
