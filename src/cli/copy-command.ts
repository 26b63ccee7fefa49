import { parseArgs } from "node:util";
import { copyData, type CopyReport } from "../server/data-copy/copy-data.ts";
import { checkPlace, isMissing, openPlace, type PlaceName } from "../server/data-copy/places.ts";
import { messageOf } from "../server/start-refused.ts";
import { realSurroundings } from "../server/start.ts";
import { progressBar } from "./progress-bar.ts";
import { quietLog } from "./quiet-log.ts";

export const copyUsage = `usage: etagere copy --from PLACE --to PLACE
  --from, --to                 a data folder, or postgres://… for the records
  --fromContent, --toContent   s3://… for the bytes, or with postgres:// also a folder

The servers of both places must be stopped. A copy that broke off goes on when it is run again;
every byte and record is compared at the end, and no server opens a place that is half a copy.
`;

const options = {
  from: { type: "string" },
  to: { type: "string" },
  fromContent: { type: "string" },
  toContent: { type: "string" },
} as const;

/** `etagere copy`: 0 if everything is there and the same, 1 otherwise. */
export async function copyCommand(words: readonly string[]): Promise<number> {
  const places = readWords(words);
  if (places === undefined) {
    process.stderr.write(copyUsage);
    return 1;
  }
  try {
    const { records, extents, bytes } = await copyBetween(places);
    process.stdout.write(`copied and compared ${records} records, ${bytes} bytes`);
    process.stdout.write(` in ${extents} extents\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`etagere: ${messageOf(error)}\n`);
    return 1;
  }
}

interface Places {
  readonly from: PlaceName;
  readonly to: PlaceName;
}

async function copyBetween({ from, to }: Places): Promise<CopyReport> {
  for (const [name, place] of Object.entries({ from, to })) {
    const problem = checkPlace(place);
    if (problem !== undefined) throw new Error(`--${name}: ${problem}`);
  }
  if (isMissing(from)) throw new Error(`--from: ${from.records} is no data folder`);
  const world = { ...realSurroundings(quietLog) };
  const bar = progressBar(process.stderr, () => performance.now());
  const fromName = [from.records, from.bytes].filter(Boolean).map(withoutPassword).join(" ");
  // Pauses alone keep no process alive, and a bucket or a database may make it pause.
  const staying = setInterval(() => {}, 60_000);
  const source = await openPlace(from, world);
  try {
    const target = await openPlace(to, world);
    try {
      return await copyData({ from: source, to: target, fromName, ...world, progress: bar });
    } finally {
      bar.end();
      await target.close();
    }
  } finally {
    await source.close();
    clearInterval(staying);
  }
}

function withoutPassword(place: string | undefined): string {
  return (place ?? "").replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}

function readWords(words: readonly string[]): Places | undefined {
  try {
    const { values } = parseArgs({ args: [...words], options });
    const { from, to, fromContent, toContent } = values;
    if (from === undefined || to === undefined) return undefined;
    return {
      from: { records: from, bytes: fromContent },
      to: { records: to, bytes: toContent },
    };
  } catch {
    return undefined;
  }
}
