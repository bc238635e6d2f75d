// `sys` is `util` under its first name.
export * from "haft:node/util";
export { default } from "haft:node/util";
