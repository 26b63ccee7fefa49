import { resolve } from "node:path";
import { realEnvironment } from "../host/world.ts";
import { jsonOption } from "./admin-client.ts";
import { defineCommand } from "./command.ts";
import { countText, sizeText, showProgress } from "./progress.ts";
import { quietLog } from "./with-stores.ts";

/** `etagere backup`: copies a data folder while servers use it. */
export const backupCommand = defineCommand({
  name: "backup",
  summary: "copy a data folder, also while servers use it",
  description: [
    "Copies one consistent state of a data folder; servers may continue to use it. The copy is " +
      "created under a temporary name and renamed once it is complete and flushed to disk. " +
      "Records or contents stored elsewhere (--store, --content) are not copied.",
  ],
  options: {
    from: {
      kind: "folder",
      value: "FOLDER",
      isRequired: true,
      help: "the data folder: the --location of a server, such as .etagere",
    },
    to: {
      kind: "folder",
      value: "FOLDER",
      isRequired: true,
      help: "target; must not exist or must be empty",
    },
    base: {
      kind: "folder",
      value: "FOLDER",
      help:
        "an earlier backup: contents that have not changed since are linked to its files, and " +
        "take neither time nor space; records are copied. Every backup is complete, and can be " +
        "deleted. To restore, copy a backup and serve the copy.",
    },
    ...jsonOption,
  },
  exitCodes: ["the backup is complete and flushed", "no backup was made"],
  example: "etagere backup --from .etagere --to backup-monday",
  run: async ({ options: { from, to, base, json } }) => {
    const { clock } = realEnvironment(quietLog);
    const { backupFolder } = await import("../commands/folder-backup.ts");
    const folders = {
      location: resolve(from),
      to: resolve(to),
      base: base === undefined ? undefined : resolve(base),
    };
    const report = await showProgress({ json }, (progress) =>
      backupFolder({ ...folders, clock, log: quietLog, progress }),
    );
    const { extents, bytes, linkedExtents } = report;
    const linked =
      linkedExtents === 0 ? "" : `, ${countText(linkedExtents)} extents linked to ${base}`;
    const copied = `all records and ${countText(extents)} extents, ${sizeText(bytes)}${linked}`;
    return { report, text: `${to}: ${copied}\n` };
  },
});
