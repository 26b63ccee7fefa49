import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { formatIso } from "../base/dates.ts";
import { readMasterKey } from "../host/master-key.ts";
import { StartRefused, systemErrorCode } from "../host/refused.ts";
import { realEnvironment } from "../host/world.ts";
import type { DataKey } from "../store/encryption/keyring.ts";
import { defineCommand, WrongUsage, type Options, type Values } from "./command.ts";
import { jsonOption } from "./admin-client.ts";
import { checkOptions, locationOf, quietLog, storeOptions, withLocation } from "./with-stores.ts";

/** The actions that need the stored data keys; `new-key` only writes a file. */
const stored = ["status", "rotate", "add-data-key"] as const;

const keyOptions = {
  location: {
    kind: "folder",
    short: "l",
    value: "FOLDER",
    actions: stored,
    help: "the data folder; default .etagere",
  },
  store: { ...storeOptions.store, actions: stored, help: "records in postgres://…" },
  storeFile: { ...storeOptions.storeFile, actions: stored },
  encryption: { ...storeOptions.encryption, actions: stored },
} as const satisfies Options;

/** `etagere encryption`: creates a master key, and changes the keys of encrypted data. The data
 *  keys, which encrypt the data, are stored with it, encrypted (wrapped) with the master key: so a
 *  new master key needs no data to be written again. */
export const encryptionCommand = defineCommand({
  name: "encryption",
  summary: "create and change the keys of encrypted data",
  description: [
    "Data that a server stores with --encryption is encrypted with data keys, which are stored " +
      "with it, encrypted with the master key. Without the master key the data is lost. Servers " +
      "may run meanwhile (docs/guides/encryption.md).",
  ],
  actions: {
    "new-key": {
      arguments: [{ value: "FILE", kind: "file" }],
      help: "write a new master key to a new file that only its owner can read",
    },
    status: { arguments: [], help: "list the data keys; fails if the master key is another one" },
    rotate: {
      arguments: [{ value: "SOURCE", kind: "text" }],
      help: "encrypt the data keys with the master key of SOURCE instead; no data is rewritten",
    },
    "add-data-key": { arguments: [], help: "encrypt what is written from now on with a new key" },
  },
  options: { ...keyOptions, ...jsonOption },
  exitCodes: ["done", "not done"],
  example:
    "etagere encryption new-key /etc/etagere/next.key\n" +
    "etagere encryption rotate file:/etc/etagere/next.key \\\n" +
    "                   --encryption file:/etc/etagere/master.key",
  run: async ({ action, words: [word = ""], options }) => {
    if (action === "new-key") {
      await writeNewKey(word);
      const text = `${word}: new master key; keep a copy of it in a safe place\n`;
      return { report: { masterKey: word }, text };
    }
    const keys = await changeKeys(action, word, options);
    const dataKeys = keys.map(({ id, createdAt }) => ({ id, createdAt: formatIso(createdAt) }));
    const lines = dataKeys.map(({ id, createdAt }) => `data key ${id}  ${createdAt}\n`);
    return { report: { dataKeys }, text: lines.join("") };
  },
});

const masterKeyBytes = 32;

async function writeNewKey(file: string): Promise<void> {
  const { random } = realEnvironment(quietLog);
  const text = `${Buffer.from(random.bytes(masterKeyBytes)).toString("base64")}\n`;
  // An existing file may be the key of other data, which would be lost with it.
  await writeFile(file, text, { flag: "wx", mode: 0o600, flush: true }).catch((error: unknown) => {
    if (systemErrorCode(error) !== "EEXIST") throw error;
    const why = "exists, and may be the key of data that would be lost with it";
    throw new StartRefused([`${file}: ${why}; choose another name`], error);
  });
}

async function changeKeys(
  action: (typeof stored)[number],
  source: string,
  { location: folder, store, storeFile, encryption }: Values<typeof keyOptions>,
): Promise<readonly DataKey[]> {
  if (encryption === undefined) throw new WrongUsage("--encryption: the master key is required");
  const { isMissing } = await import("../data/data-locations.ts");
  const { addDataKey, changeMasterKey } = await import("../store/encryption/keyring.ts");
  const options = await checkOptions({ location: folder, store, storeFile, encryption });
  const location = locationOf(options);
  const records = options.store ?? location;
  if (isMissing({ records, bytes: undefined })) throw new Error(`${location}: not a data folder`);
  const master = await readMasterKey(encryption);
  const next = action === "rotate" ? await readMasterKey(source) : master;
  const bytes = options.store === undefined ? undefined : resolve(location);
  return withLocation({ records, bytes, encryption }, async (data, world) => {
    const keyring = { ...data, ...world, master };
    if (action === "rotate") return changeMasterKey(keyring, next);
    return action === "status" ? (data.dataKeys ?? []) : addDataKey(keyring);
  });
}
