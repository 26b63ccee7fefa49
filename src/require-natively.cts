/** `require` of Node. Inside Jest, `require` and `node:module` are those of Jest, which cannot load
 *  ES modules; scripts of the main context have the ones of Node. */
import type * as vm from "node:vm";

const { runInThisContext } = require("node:vm") as typeof vm;

const main = runInThisContext("process") as NodeJS.Process;

module.exports = main.getBuiltinModule("node:module").createRequire(__filename);
