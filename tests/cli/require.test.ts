import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

const start = `start({ port: 0, inMemoryPersistence: true }).then(async (server) => {
  console.log(server.connectionString !== "");
  await server.stop();
});`;

it.each([
  ["require", ["-e", `const { start } = require("etagere"); ${start}`]],
  ["import", ["--input-type=module", "-e", `import { start } from "etagere"; ${start}`]],
])("the package works with %s", (_, words) => {
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect(stderr.replace(/^.*ExperimentalWarning.*\n.*--trace-warnings.*\n/m, "")).toBe("");
  expect(stdout).toBe("true\n");
});
