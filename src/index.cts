/** The package for `require`, also inside Jest. */
const requireIndex = require("./require-natively.cjs") as NodeJS.Require;

module.exports = requireIndex("./index.js");
