import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { accountDefaults, accountsOf, developmentAccount } from "../account/settings.ts";
import { resolveOptions, type StartOptions } from "./options.ts";
import { risksOf } from "./setup-risks.ts";

const folder = mkdtempSync(join(tmpdir(), "setup-risks-"));
afterAll(() => rmSync(folder, { recursive: true }));

const keyOf = (bytes: number): string => Buffer.alloc(bytes, 7).toString("base64");
const account = (name: string, ...keys: readonly [string, string?]) => ({
  ...accountDefaults,
  name,
  keys: keys.filter((key) => key !== undefined) as [string],
});

async function fieldsOf(input: StartOptions, ...accounts: Parameters<typeof accountsOf>[0]) {
  const options = resolveOptions(input);
  if (!options.ok) throw new Error(options.problems.join());
  return (await risksOf(options.value, accountsOf(accounts))).map(({ fields }) => fields);
}

it("short keys and the placeholders of the guides are risks", async () => {
  const good = account("good", keyOf(64), keyOf(32));
  const placeholder = account("placeholder", "KEY1", "KEY2");
  const short = account("short", keyOf(64), keyOf(31));
  expect(await fieldsOf({}, good)).toEqual([]);
  expect(await fieldsOf({}, good, placeholder, short)).toEqual([
    { accounts: ["placeholder", "short"] },
  ]);
});

it("the published key is a risk where other machines can use it", async () => {
  const own = account("own", keyOf(64));
  const exposed = { blobHost: "0.0.0.0", smbHost: "::", adminHost: "127.0.0.2" };
  expect(await fieldsOf({}, developmentAccount())).toEqual([]);
  expect(await fieldsOf(exposed, own)).toEqual([]);
  expect(await fieldsOf(exposed, own, developmentAccount())).toEqual([
    { options: ["blobHost", "smbHost"] },
  ]);
  expect(await fieldsOf({ ...exposed, noSmb: true, services: ["queue"] }, own)).toEqual([]);
  const admin = { adminHost: "0.0.0.0", smbHost: "::", noSmb: true };
  expect(await fieldsOf(admin, developmentAccount())).toEqual([{ options: ["adminHost"] }]);
});

it.skipIf(process.platform === "win32")(
  "files with keys that others can read are risks",
  async () => {
    const file = (name: string, mode: number): string => {
      const path = join(folder, name);
      writeFileSync(path, "secret");
      chmodSync(path, mode);
      return path;
    };
    const [own, others, group] = [file("own", 0o600), file("others", 0o604), file("group", 0o640)];
    const options = { cert: own, key: own, config: own, encryption: `file:${own}` };
    expect(await fieldsOf(options)).toEqual([]);
    expect(await fieldsOf({ ...options, config: others, encryption: `file:${group}` })).toEqual([
      { files: [others, group] },
    ]);
    expect(await fieldsOf({ ...options, key: join(folder, "none") })).toEqual([]);
  },
);
