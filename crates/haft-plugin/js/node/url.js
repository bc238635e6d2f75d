// The module `url`: WHATWG classes, file paths, and the old `parse`/`format`/`resolve`.
import { parseUrl } from "haft:ops";
import { coded, invalidType, mustBeString } from "haft:node/parts/errors";
import { resolve as resolvePath } from "haft:node/path";
import { URL } from "haft:web/url";
import { URLSearchParams } from "haft:web/url-params";

export { URL, URLSearchParams };

export function fileURLToPath(url) {
  if (typeof url === "string") url = new URL(url);
  if (typeof url?.href !== "string" || typeof url.protocol !== "string")
    throw invalidType("path", "of type string or an instance of URL", url);
  if (url.protocol !== "file:")
    throw coded(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  if (url.hostname !== "")
    throw coded(
      TypeError,
      "ERR_INVALID_FILE_URL_HOST",
      'File URL host must be "localhost" or empty on linux',
    );
  if (/%2f/i.test(url.pathname))
    throw coded(
      TypeError,
      "ERR_INVALID_FILE_URL_PATH",
      "File URL path must not include encoded / characters",
    );
  return decodeURIComponent(url.pathname);
}

export function pathToFileURL(path) {
  mustBeString("path", path);
  let whole = resolvePath(path);
  if (path.endsWith("/") && !whole.endsWith("/")) whole += "/";
  const escaped = whole.replace(/[%\\\n\r\t?#]/g, (char) => encodeURIComponent(char));
  return new URL(`file://${escaped}`);
}

export const urlToHttpOptions = (url) => ({
  protocol: url.protocol,
  hostname: url.hostname.replace(/^\[|\]$/g, ""),
  hash: url.hash,
  search: url.search,
  pathname: url.pathname,
  path: `${url.pathname}${url.search}`,
  href: url.href,
  ...(url.port === "" ? {} : { port: Number(url.port) }),
  ...(url.username || url.password
    ? { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }
    : {}),
});
export const domainToASCII = (domain) => parseUrl(`ws://${domain}`)?.hostname ?? "";
export const domainToUnicode = domainToASCII;

export class Url {
  protocol = null;
  slashes = null;
  auth = null;
  host = null;
  port = null;
  hostname = null;
  hash = null;
  search = null;
  query = null;
  pathname = null;
  path = null;
  href = "";
}

// The old, forgiving form. Only its documented fields; hostile input is the business of `new URL`.
export function parse(text, withQuery = false) {
  mustBeString("url", text);
  const out = new Url();
  const [, protocol, slashes, authority, pathname, search, hash] =
    /^([a-zA-Z][a-zA-Z0-9+.-]*:)?(?:(\/\/)([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text.trim());
  const [, auth, hostname, port] = /^(?:(.*)@)?(.*?)(?::(\d*))?$/s.exec(authority ?? "");
  Object.assign(out, {
    protocol: protocol?.toLowerCase() ?? null,
    slashes: slashes ? true : null,
    auth: auth === undefined ? null : decodeURIComponent(auth),
    host: slashes ? hostname.toLowerCase() + (port ? `:${port}` : "") : null,
    port: port || null,
    hostname: slashes ? hostname.toLowerCase().replace(/^\[|\]$/g, "") : null,
    hash: hash ?? null,
    search: search ?? (withQuery ? "" : null),
    query: search ? search.slice(1) : withQuery ? "" : null,
    pathname: pathname || (slashes && /^(https?|ftp|wss?|file):$/i.test(protocol ?? "") ? "/" : null),
  });
  if (withQuery)
    out.query = Object.assign(Object.create(null), Object.fromEntries(new URLSearchParams(search ?? "")));
  out.path = out.pathname || out.search ? `${out.pathname ?? ""}${out.search ?? ""}` : null;
  out.href = format(out);
  return out;
}

export function format(url, options = {}) {
  if (typeof url === "string") return parse(url).href;
  if (url instanceof URL) {
    const copy = new URL(url.href);
    if (options.auth === false) copy.username = copy.password = "";
    if (options.fragment === false) copy.hash = "";
    if (options.search === false) copy.search = "";
    return copy.href;
  }
  let protocol = url.protocol ?? "";
  if (protocol && !protocol.endsWith(":")) protocol += ":";
  const auth = url.auth ? `${encodeURIComponent(url.auth).replace("%3A", ":")}@` : "";
  const hostname = url.hostname?.includes(":") ? `[${url.hostname}]` : url.hostname;
  const host = url.host
    ? auth + url.host
    : hostname
      ? auth + hostname + (url.port ? `:${url.port}` : "")
      : "";
  const query = url.query && typeof url.query === "object" ? new URLSearchParams(url.query).toString() : "";
  const search = url.search || (query && `?${query}`) || "";
  const slashes = url.slashes || (host && /^(https?|ftp|wss?|file):$/.test(protocol)) ? "//" : "";
  const path = (url.pathname ?? "").replace(/[?#]/g, encodeURIComponent);
  return `${protocol}${slashes}${host}${host && path && path[0] !== "/" ? "/" : ""}${path}${search && search[0] !== "?" ? "?" : ""}${search}${url.hash ? `${url.hash[0] === "#" ? "" : "#"}${url.hash}` : ""}`;
}

export function resolve(from, to) {
  const whole = parseUrl(to, from);
  if (whole) return whole.href;
  const { protocol, host, pathname, search, hash } = new URL(to, new URL(from, "resolve://x"));
  return protocol === "resolve:"
    ? `${pathname}${search}${hash}`.slice(from.startsWith("/") || to.startsWith("/") ? 0 : 1)
    : `${protocol}//${host}${pathname}${search}${hash}`;
}

export default {
  URL,
  URLSearchParams,
  Url,
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  format,
  parse,
  pathToFileURL,
  resolve,
  urlToHttpOptions,
};
