import type { Operation } from "../../src/operation/operation.ts";
import type { ServiceName } from "../../src/protocol/names.ts";
import { rawClient } from "../harness/raw-client.ts";
import type { Random } from "../verify/random.ts";
import { fixtures, lookAt } from "./fixture.ts";
import { bytesOf, type RawReply, type RawRequest } from "./raw-socket.ts";
import { fuzzedRequest } from "./requests.ts";

export interface FuzzRun {
  readonly service: ServiceName;
  readonly operations: readonly Operation[];
  readonly url: string;
  readonly random: Random;
  readonly requests: number;
  readonly send: (request: RawRequest) => Promise<RawReply>;
  /** Removes what successful requests have created. */
  readonly reset: () => Promise<void>;
}

/** Number of consecutive rejected requests per comparison of the state. */
const refusedPerLook = 6;
const successesPerReset = 15;
const problemsMax = 5;

/** Never 500, always a response, and rejected requests change nothing: returns every violation. */
export async function fuzz(run: FuzzRun): Promise<readonly string[]> {
  const { service, url, requests, reset } = run;
  const client = rawClient(url);
  const setUp = async (): Promise<string> => {
    for (const call of fixtures[service]) await client.send(call);
    return lookAt(service, client);
  };
  const problems: string[] = [];
  let before = await setUp();
  let successes = 0;
  let refused: RawRequest[] = [];
  const look = async (): Promise<void> => {
    const after = await lookAt(service, client);
    if (after !== before) problems.push(describeChange(before, after, refused));
    before = after;
    refused = [];
  };
  for (let count = 0; count < requests && problems.length < problemsMax; count += 1) {
    const request = fuzzedRequest(run.random.pick(run.operations), run.random);
    const status = await statusOf(run, request, problems);
    if (status >= 400) refused.push(request);
    const isDone = status < 300 && request.method !== "GET" && request.method !== "HEAD";
    if (refused.length >= refusedPerLook) await look();
    if (!isDone) continue;
    // Earlier rejected requests must be compared with the state before this request.
    successes += 1;
    refused = [];
    if (successes % successesPerReset === 0) await reset();
    before = await setUp();
  }
  await look();
  return problems;
}

async function statusOf(
  { send }: FuzzRun,
  request: RawRequest,
  problems: string[],
): Promise<number> {
  try {
    const { status, text } = await send(request);
    if (status === 500) problems.push(`500 for:\n${show(request)}\n${text.slice(-500)}`);
    return status;
  } catch (error) {
    problems.push(`${String(error)} for:\n${show(request)}`);
    return 0;
  }
}

function describeChange(before: string, after: string, refused: readonly RawRequest[]): string {
  const old = before.split("\n");
  const changed = after.split("\n").findIndex((line, index) => line !== old[index]);
  const lines = `${old[changed]}\n${after.split("\n")[changed]}`;
  return `changed:\n${lines}\nby one of:\n${refused.map(show).join("\n")}`;
}

function show(request: RawRequest): string {
  return bytesOf(request)
    .toString("latin1")
    .slice(0, 700)
    .replace(/sig=\w+/, "sig=…");
}
