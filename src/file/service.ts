import type { Service, ReclaimHandler, Removal } from "../operation/service.ts";
import { fileCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { reclaimDisplaced } from "./rename/displace.ts";
import { fileTables, versionEnds, versions } from "./records.ts";
import { identify, signedName, type FileAddress } from "./file-address.ts";
import { resources } from "./resources.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import { successor } from "../encoding/keys.ts";
import { snapshotsOf } from "./share/share-lifecycle.ts";

/** The File service as a whole, and the reclaim job of deleted share snapshots. */

/** Most index entries that one step of that job examines, so that its transaction stays short. */
const entriesMax = 500;

/** Removes the versions (earlier states of files, kept for share snapshots) that only a deleted
 *  snapshot showed. Each snapshot has a number, its epoch. The index orders versions by the last
 *  epoch that they belong to, so that those to examine lie between the deleted snapshot and the
 *  next one. A version that the previous snapshot shows too remains. The third part of the scope is
 *  the position to continue from. */
const reclaimSnapshot: ReclaimHandler = async (view, scope) => {
  const [share, epoch, position] = scope as [bigint, bigint, string?];
  const { previous, next } = await adjacentEpochs(view, share, Number(epoch));
  const start =
    position === undefined
      ? versionEnds.prefix([share, Number(epoch)])
      : successor(Buffer.from(position, "hex"));
  const end =
    next === undefined ? versionEnds.range([share]).end : versionEnds.prefix([share, next]);
  const removals: Removal[] = [];
  let last: Uint8Array | undefined;
  let examined = 0;
  for await (const batch of view.scan(versionEnds, { start, end, limit: entriesMax })) {
    for (const { key } of batch) {
      last = key;
      examined += 1;
      const [, , parent, folded, since] = versionEnds.parts(key);
      if ((since as number) <= previous) continue;
      const at = {
        share,
        parent: parent as bigint,
        folded: folded as string,
        since: since as number,
      };
      removals.push({ table: anyTable(versions), key: versions.key(at) });
      removals.push({ key: new Uint8Array(key) });
    }
  }
  if (examined < entriesMax || last === undefined) return { removals, done: true };
  const onwards = [share, epoch, Buffer.from(last).toString("hex")];
  return { removals, jobs: [{ kind: "file-snapshot", scope: onwards }], done: true };
};

/** The epochs of the share snapshots before and after the deleted one, between which the versions
 *  to examine lie: 0 and undefined if there are none. */
async function adjacentEpochs(view: RecordView, share: bigint, epoch: number) {
  let previous = 0;
  let next: number | undefined;
  for (const { epoch: other } of await snapshotsOf(view, share)) {
    if (other < epoch) previous = Math.max(previous, other);
    if (other > epoch) next = Math.min(next ?? other, other);
  }
  return { previous, next };
}

/** The declaration of the File service, for the request pipeline and background tasks. */
export const fileService: Service = {
  name: "file",
  identify,
  signedName: (address, header) => signedName(address as FileAddress, header),
  resources,
  operations,
  tables: fileTables,
  reclaimers: { "file-snapshot": reclaimSnapshot, "file-displaced": reclaimDisplaced },
  transfers: { "file-copy": fileCopy },
};
