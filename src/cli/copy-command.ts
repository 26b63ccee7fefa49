import type { CopyReport } from "../commands/copy-data.ts";
import type { Progress } from "../commands/progress.ts";
import type { DataLocation } from "../data/data-locations.ts";
import { readSecretFile } from "../server/secret-options.ts";
import { withoutPassword } from "../store/postgres/addresses.ts";
import { jsonOption } from "./admin-client.ts";
import { countText, sizeText, showProgress } from "./progress.ts";
import { encryptionOption, withLocation } from "./with-stores.ts";
import { defineCommand, WrongUsage, type Options, type Values } from "./command.ts";

const locationOptions = {
  from: { kind: "folder", value: "LOCATION", help: "a data folder, or postgres://… for records" },
  fromFile: {
    kind: "file",
    value: "FILE",
    help: "a file that contains the value of --from, to hide a password",
  },
  fromContent: {
    kind: "folder",
    value: "LOCATION",
    help: "s3://… or a folder for contents; required with postgres://",
  },
  to: { kind: "folder", value: "LOCATION", help: "a data folder, or postgres://… for records" },
  toFile: { kind: "file", value: "FILE", help: "a file that contains the value of --to" },
  toContent: {
    kind: "folder",
    value: "LOCATION",
    help: "s3://… or a folder for contents; required with postgres://",
  },
  ...encryptionOption,
} as const satisfies Options;

/** `etagere copy`: copies the data of a server to another engine, for example from a folder to
 *  PostgreSQL and S3. It opens both locations itself, so no server may use them. */
export const copyCommand = defineCommand({
  name: "copy",
  summary: "copy all data to another engine (folder, postgres://, s3://)",
  description: [
    "Copies all records and contents from one location to another, for example from a folder to " +
      "a database and a bucket. Stop the servers of both first. An interrupted copy continues " +
      "when the command is run again. At the end every byte and record is compared; until then " +
      "no server opens the target.",
  ],
  options: { ...locationOptions, ...jsonOption },
  oneOf: [
    ["from", "fromFile"],
    ["to", "toFile"],
  ],
  exitCodes: ["everything was copied and compared", "the copy is incomplete"],
  example:
    "etagere copy --from .etagere --to postgres://user:password@host/etagere \\\n" +
    "             --toContent 's3://bucket/prefix?endpoint=https://…'",
  run: async ({ options: { json, ...given } }) => {
    const locations = await locationsOf(given);
    const report = await showProgress({ json }, (progress) => copyBetween(locations, progress));
    return { report, text: textOf(report) };
  },
});

type CopyLocations = Readonly<Record<"from" | "to", DataLocation>>;

async function locationsOf(given: Values<typeof locationOptions>): Promise<CopyLocations> {
  const { from, fromFile, fromContent, to, toFile, toContent, encryption } = given;
  const source = from ?? (await readLocation(fromFile, "--fromFile"));
  const target = to ?? (await readLocation(toFile, "--toFile"));
  return {
    from: { records: source, bytes: fromContent, encryption },
    to: { records: target, bytes: toContent, encryption },
  };
}

function textOf({ records, extents, bytes }: CopyReport): string {
  const size = `${sizeText(bytes)} in ${countText(extents)} extents`;
  return `copied and compared ${countText(records)} records, ${size}\n`;
}

/** Reads a location from a file: one with a password must not be visible on the command line.
 *  Throws `WrongUsage` if the file cannot be read. */
async function readLocation(file: string | undefined, option: string): Promise<string> {
  const read = await readSecretFile(file ?? "");
  if (read.ok) return read.value;
  throw new WrongUsage(`${option}: ${read.problems.join("; ")}`);
}

async function copyBetween({ from, to }: CopyLocations, progress: Progress): Promise<CopyReport> {
  const { checkDataLocation, isMissing } = await import("../data/data-locations.ts");
  const { copyData } = await import("../commands/copy-data.ts");
  for (const [name, place] of Object.entries({ from, to })) {
    const problem = checkDataLocation(place);
    if (problem !== undefined) throw new Error(`--${name}: ${problem}`);
  }
  if (isMissing(from)) throw new Error(`--from: ${from.records} is no data folder`);
  const names = [from.records, from.bytes ?? ""].filter((name) => name !== "");
  const fromName = names.map(withoutPassword).join(" ");
  return withLocation(from, (source) =>
    withLocation(
      to,
      (target, world) => copyData({ from: source, to: target, fromName, ...world, progress }),
      source.dataKeys,
    ),
  );
}
