// DOMException: the error class of the web APIs, with the legacy numbers of `code`.
const CODES = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  InvalidCharacterError: 5,
  NotFoundError: 8,
  NotSupportedError: 9,
  InvalidStateError: 11,
  SyntaxError: 12,
  NamespaceError: 14,
  InvalidAccessError: 15,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  DataCloneError: 25,
};

export class DOMException extends Error {
  #name;
  constructor(message = "", options = "Error") {
    super(String(message));
    const named = typeof options === "object" && options !== null;
    this.#name = named ? String(options.name ?? "Error") : String(options);
    if (named && "cause" in options)
      Object.defineProperty(this, "cause", { value: options.cause, writable: true, configurable: true });
  }
  get name() {
    return this.#name;
  }
  get code() {
    return CODES[this.#name] ?? 0;
  }
  get [Symbol.toStringTag]() {
    return "DOMException";
  }
}

for (const name in CODES) {
  const constant =
    name
      .replace(/Error$/, "")
      .replace(/([a-z])([A-Z])/g, "$1_$2")
      .toUpperCase() + "_ERR";
  Object.defineProperty(DOMException, constant, { value: CODES[name], enumerable: true });
}
