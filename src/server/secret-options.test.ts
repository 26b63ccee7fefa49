import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readSecrets } from "./secret-options.ts";

const folder = mkdtempSync(join(tmpdir(), "etagere-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));
const secret = "a secret of 20 bytes";
const file = join(folder, "secret");
writeFileSync(file, `${secret}\n`);
const empty = join(folder, "empty");
writeFileSync(empty, "\n");
const long = join(folder, "long");
writeFileSync(long, "x".repeat(65 * 1024));

const variables: Readonly<Record<string, string>> = {
  ETAGERE_ADMIN_TOKEN: "token of the environment",
  ETAGERE_PWD: "password",
  ETAGERE_STORE: "postgres://user:password@host/name",
};
const variable = (name: string): string | undefined => variables[name];

it.each([
  ["adminTokenFile", { adminTokenFile: file }, { adminToken: secret }],
  ["pwdFile", { pwdFile: file, cert: "a" }, { pwd: secret, cert: "a" }],
  ["storeFile", { storeFile: file }, { store: secret }],
  ["nothing", { silent: true }, { silent: true }],
])("reads the file of %s", async (_, input, value) => {
  expect(await readSecrets(input)).toEqual({ ok: true, value });
});

it.each([
  ["all that apply", {}, ["ETAGERE_ADMIN_TOKEN", "ETAGERE_STORE"]],
  ["no database for memory", { inMemoryPersistence: true }, ["ETAGERE_ADMIN_TOKEN"]],
  ["no token if it is given", { adminToken: "x", inMemoryPersistence: true }, []],
  ["no token if its file is given", { adminTokenFile: file, inMemoryPersistence: true }, []],
  [
    "the password of a pfx certificate",
    { cert: "a", store: "b", adminToken: "c" },
    ["ETAGERE_PWD"],
  ],
  ["no password of a pem certificate", { cert: "a", key: "b", store: "c", adminToken: "d" }, []],
])("takes from the environment %s", async (_, input, names) => {
  const read = await readSecrets(input, { variable });
  const values = read.ok ? Object.values(read.value) : [];
  const taken = Object.keys(variables).filter((name) => values.includes(variables[name] ?? ""));
  expect(taken).toEqual(names);
});

it.each([
  [{ adminTokenFile: file, adminToken: "x" }, /^--adminTokenFile: contradicts --adminToken$/],
  [{ storeFile: join(folder, "none") }, /^--storeFile: .*none cannot be read \(ENOENT/],
  [{ pwdFile: empty }, /^--pwdFile: .*empty is empty$/],
  [{ adminTokenFile: long }, /^--adminTokenFile: .*long is longer than 65536 bytes$/],
])("reports a mistake in %j", async (input, problem) => {
  const read = await readSecrets(input, { spell: (name) => `--${name}` });
  expect(read.ok ? [] : read.problems).toEqual([expect.stringMatching(problem)]);
});
