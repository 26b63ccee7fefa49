import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseHistory, type HistoryEvent } from "./history.ts";

/** The events of all client processes, from the files that they write. */
export async function readHistories(folder: string): Promise<readonly HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  for (const name of readdirSync(folder)) {
    const lines: string[] = [];
    const input = createReadStream(join(folder, name));
    for await (const line of createInterface({ input })) lines.push(line);
    for (const event of parseHistory(lines)) events.push(event);
  }
  return events;
}
