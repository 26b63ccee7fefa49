import type { Engine, EngineReader, VersionedEntry } from "../engine.ts";
import { isAlive } from "../process-identity.ts";
import { recordPrefix, recordsEnd } from "./batch-record.ts";

const recordsMax = 1000;

/** Removes the batch records of processes that have ended: their ids are never used again. */
export async function removeStaleRecords(engine: Engine): Promise<void> {
  const view = engine.open();
  try {
    if (staleRecords(view).length === 0) return;
  } finally {
    view.close();
  }
  await engine.commit((current) => {
    const writes = staleRecords(current).map(({ key, text }) => ({
      key,
      text,
      value: undefined,
      revision: 0,
    }));
    if (writes.length === 0) return undefined;
    // Other processes recognise a commit by its sequence.
    const { ticks } = current;
    return { sequence: current.sequence + 1, ticks, writes, mayUseReserve: true };
  });
}

function staleRecords(reader: EngineReader): VersionedEntry[] {
  const bounds = { start: recordPrefix, end: recordsEnd, reverse: false };
  return reader.scan(bounds, recordsMax).filter(({ text }) => !isRunning(text));
}

/** Ids are `<process>-<start time>-<thread>-<opening>`. */
function isRunning(text: string): boolean {
  const [pid = "", startTime = ""] = text.slice(recordPrefix.length).split("-");
  return isAlive({ pid: Number(pid), startTime });
}
