import { describe, expect, it } from "vitest";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { freshName } from "../harness/server.ts";
import { randomFrom, type Random } from "../verify/random.ts";
import { restAndSmb } from "./rest-and-smb.ts";
import type { Handle, WireClient } from "./wire-client.ts";
import { ioctlBody, numberPair, openFile, setInfo, write } from "./wire-messages.ts";
import type { ShareFileClient } from "@azure/storage-file-share";

const { share, ready } = restAndSmb();
const fileBytes = 8192;
const steps = 30;
const [setZeroData, queryAllocatedRanges, setEndOfFile] = [0x0009_80c8, 0x0009_40cf, 20];

/** A change of the content, with the same meaning in both protocols. */
interface Change {
  readonly kind: "write" | "zero" | "resize";
  readonly from: number;
  readonly length: number;
}

/** Offsets and lengths at sector boundaries, beside them, and anywhere. */
function offset(random: Random, max: number): number {
  if (random.chance(0.3)) return random.below(max + 1);
  const sector = random.below(Math.floor(max / 512) + 1) * 512;
  return Math.min(max, Math.max(0, sector + random.pick([0, 0, -1, 1])));
}

function nextChange(random: Random, present: number): Change {
  const kind = random.pick(["write", "write", "zero", "zero", "resize"] as const);
  if (kind === "resize") return { kind, from: 0, length: offset(random, fileBytes) };
  const from = offset(random, present - 1);
  return { kind, from, length: 1 + offset(random, present - from - 1) };
}

const overRest = {
  write: (file: ShareFileClient, { from, length }: Change) =>
    file.uploadRange("x".repeat(length), from, length),
  zero: (file: ShareFileClient, { from, length }: Change) => file.clearRange(from, length),
  resize: (file: ShareFileClient, { length }: Change) => file.resize(length),
};

type OverSmb = (client: WireClient, handle: Handle, change: Change) => Promise<{ status: number }>;
const overSmb: Readonly<Record<Change["kind"], OverSmb>> = {
  write: (client, handle, { from, length }) => write(client, handle, "x".repeat(length), from),
  zero: (client, handle, { from, length }) =>
    client.ask(11, ioctlBody(handle, setZeroData, numberPair(from, from + length))),
  resize: (client, handle, { length }) =>
    setInfo(client, handle, setEndOfFile, new Writer().u64(BigInt(length)).finish()),
};

type Ranges = readonly (readonly [from: number, to: number])[];

async function allocatedOverSmb(client: WireClient, handle: Handle): Promise<Ranges> {
  const body = ioctlBody(handle, queryAllocatedRanges, numberPair(0, fileBytes));
  const { status, message } = await client.ask(11, body);
  expect(status).toBe(0);
  const at = message.readUInt32LE(96);
  const output = message.subarray(at, at + message.readUInt32LE(100));
  return Array.from({ length: output.length / 16 }, (_, index) => {
    const from = Number(output.readBigUInt64LE(16 * index));
    return [from, from + Number(output.readBigUInt64LE(16 * index + 8))] as const;
  });
}

/** List Ranges reports whole sectors, also beyond the end of the file; SMB ends at its end. */
async function allocatedOverRest(file: ShareFileClient): Promise<Ranges> {
  const { rangeList, fileContentLength = 0 } = await file.getRangeList();
  return rangeList.map(({ start, end }) => [start, Math.min(end + 1, fileContentLength)] as const);
}

describe("allocated ranges", () => {
  it.each([1, 2, 3, 4])("are the same over REST and SMB, seed %i", async (seed) => {
    const random = randomFrom(seed);
    const client = await ready();
    const root = share().rootDirectoryClient;
    const names = [freshName("rest"), freshName("smb")] as const;
    const [rest, smb] = names.map((name) => root.getFileClient(name));
    await rest!.create(fileBytes);
    await smb!.create(fileBytes);
    const handles = [await openFile(client, names[0]), await openFile(client, names[1])] as const;
    const { snapshot } = await share().createSnapshot();
    let present = fileBytes;
    for (let step = 0; step < steps; step += 1) {
      const change = nextChange(random, Math.max(1, present));
      if (change.kind !== "resize" && present === 0) continue;
      if (change.kind === "resize") present = change.length;
      await overRest[change.kind](rest!, change);
      expect((await overSmb[change.kind](client, handles[1], change)).status).toBe(0);
      const expected = await allocatedOverRest(rest!);
      const what = `step ${step}: ${JSON.stringify(change)}`;
      expect(await allocatedOverRest(smb!), what).toEqual(expected);
      expect(await allocatedOverSmb(client, handles[0]), what).toEqual(expected);
      expect(await allocatedOverSmb(client, handles[1]), what).toEqual(expected);
    }
    const [left, right] = [await rest!.downloadToBuffer(), await smb!.downloadToBuffer()];
    expect(right.equals(left)).toBe(true);
    expect(await changesSince(snapshot!, smb!)).toEqual(await changesSince(snapshot!, rest!));
    client.end();
  });
});

async function changesSince(snapshot: string, file: ShareFileClient) {
  const { ranges, clearRanges } = await file.getRangeListDiff(snapshot);
  return { ranges, clearRanges };
}
