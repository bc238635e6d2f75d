// `path/posix` is `path`.
export * from "haft:node/path";
export { default } from "haft:node/path";
