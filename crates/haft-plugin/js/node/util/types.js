// `util.types`: what kind of object something is. Proxies and the like cannot be told from JavaScript, so
// `isProxy` says false.
const TypedArray = Object.getPrototypeOf(Uint8Array);
const tag = (value) => Object.prototype.toString.call(value).slice(8, -1);
const a = (Kind) => (value) => value instanceof Kind;
const tagged = (name) => (value) => typeof value === "object" && value !== null && tag(value) === name;
const boxed = (Kind, name) => (value) =>
  typeof value === "object" && value !== null && value instanceof Kind && tag(value) === name;

export const isAnyArrayBuffer = (value) => value instanceof ArrayBuffer || tag(value) === "SharedArrayBuffer";
export const isArrayBuffer = a(ArrayBuffer);
export const isSharedArrayBuffer = tagged("SharedArrayBuffer");
export const isArrayBufferView = (value) => ArrayBuffer.isView(value);
export const isArgumentsObject = tagged("Arguments");
export const isAsyncFunction = (value) =>
  ["AsyncFunction", "AsyncGeneratorFunction"].includes(typeof value === "function" ? tag(value) : "");
export const isGeneratorFunction = (value) =>
  ["GeneratorFunction", "AsyncGeneratorFunction"].includes(typeof value === "function" ? tag(value) : "");
export const isGeneratorObject = (value) => ["Generator", "AsyncGenerator"].includes(tag(value));
export const isBigInt64Array = a(BigInt64Array);
export const isBigUint64Array = a(BigUint64Array);
export const isBooleanObject = boxed(Boolean, "Boolean");
export const isNumberObject = boxed(Number, "Number");
export const isStringObject = boxed(String, "String");
export const isBigIntObject = boxed(BigInt, "BigInt");
export const isSymbolObject = boxed(Symbol, "Symbol");
export const isBoxedPrimitive = (value) =>
  [isBooleanObject, isNumberObject, isStringObject, isBigIntObject, isSymbolObject].some((test) =>
    test(value),
  );
export const isDataView = a(DataView);
export const isDate = a(Date);
export const isFloat32Array = a(Float32Array);
export const isFloat64Array = a(Float64Array);
export const isInt8Array = a(Int8Array);
export const isInt16Array = a(Int16Array);
export const isInt32Array = a(Int32Array);
export const isUint8Array = a(Uint8Array);
export const isUint8ClampedArray = a(Uint8ClampedArray);
export const isUint16Array = a(Uint16Array);
export const isUint32Array = a(Uint32Array);
export const isTypedArray = a(TypedArray);
export const isMap = a(Map);
export const isMapIterator = tagged("Map Iterator");
export const isSet = a(Set);
export const isSetIterator = tagged("Set Iterator");
export const isNativeError = a(Error);
export const isPromise = a(Promise);
export const isProxy = () => false;
export const isRegExp = a(RegExp);
export const isWeakMap = a(WeakMap);
export const isWeakSet = a(WeakSet);
export const isModuleNamespaceObject = tagged("Module");
export const isExternal = () => false;
export const isKeyObject = () => false;
export const isCryptoKey = (value) => value?.constructor?.name === "CryptoKey";

export default {
  isAnyArrayBuffer,
  isArgumentsObject,
  isArrayBuffer,
  isArrayBufferView,
  isAsyncFunction,
  isBigInt64Array,
  isBigIntObject,
  isBigUint64Array,
  isBooleanObject,
  isBoxedPrimitive,
  isDataView,
  isDate,
  isExternal,
  isKeyObject,
  isCryptoKey,
  isFloat32Array,
  isFloat64Array,
  isGeneratorFunction,
  isGeneratorObject,
  isInt16Array,
  isInt32Array,
  isInt8Array,
  isMap,
  isMapIterator,
  isModuleNamespaceObject,
  isNativeError,
  isNumberObject,
  isPromise,
  isProxy,
  isRegExp,
  isSet,
  isSetIterator,
  isSharedArrayBuffer,
  isStringObject,
  isSymbolObject,
  isTypedArray,
  isUint16Array,
  isUint32Array,
  isUint8Array,
  isUint8ClampedArray,
  isWeakMap,
  isWeakSet,
};
