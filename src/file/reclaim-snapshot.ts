import type { ReclaimHandler, Removal } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import { successor } from "../encoding/keys.ts";
import { versionEnds, versions } from "./records.ts";
import { snapshotsOf } from "./share/snapshots.ts";

const looksMax = 500;

/**
 * A snapshot is gone: the states that only it showed go, too. They were kept while it was the last
 * one to show them, or one that was deleted since, so they lie between it and the next snapshot;
 * those that the snapshot before it shows as well stay. A position in that range is the job's own.
 */
export const reclaimSnapshot: ReclaimHandler = async (view, scope) => {
  const [share, epoch, position] = scope as [bigint, bigint, string?];
  const { previous, next } = await neighbours(view, share, Number(epoch));
  const start =
    position === undefined
      ? versionEnds.prefix([share, Number(epoch)])
      : successor(Buffer.from(position, "hex"));
  const end =
    next === undefined ? versionEnds.range([share]).end : versionEnds.prefix([share, next]);
  const removals: Removal[] = [];
  let last: Uint8Array | undefined;
  let looked = 0;
  for await (const batch of view.scan(versionEnds, { start, end, limit: looksMax })) {
    for (const { key } of batch) {
      last = key;
      looked += 1;
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
  if (looked < looksMax || last === undefined) return { removals, done: true };
  const onwards = [share, epoch, Buffer.from(last).toString("hex")];
  return { removals, jobs: [{ kind: "file-snapshot", scope: onwards }], done: true };
};

/** The epochs of the snapshots before and behind; 0 if there is none before. */
async function neighbours(view: RecordView, share: bigint, epoch: number) {
  let previous = 0;
  let next: number | undefined;
  for (const { epoch: other } of await snapshotsOf(view, share)) {
    if (other < epoch) previous = Math.max(previous, other);
    if (other > epoch) next = Math.min(next ?? other, other);
  }
  return { previous, next };
}
