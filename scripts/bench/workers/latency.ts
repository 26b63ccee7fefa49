import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { developmentAccountName } from "../../../src/account/settings.ts";
import { accountSas, version } from "../target.ts";
import { bodyBytes, container, outputOf, storedBlobs, type Load } from "./wrk.ts";

export interface LatencyOptions {
  readonly folder: string;
  readonly port: number;
  readonly seconds: number;
  readonly connections: number;
  /** Requests per second that are sent, whether or not earlier ones were answered in time. */
  readonly rate: number;
}

/** Milliseconds from sending to the complete response. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Measures the latency at a fixed rate with h2load. Writes replace the stored blobs. h2load does
 *  not connect again after a response that closes the connection: workers that even out their load
 *  leave it fewer connections, and it reports the remaining requests of the others as errored. */
export async function measureLatency(load: Load, options: LatencyOptions): Promise<Latency> {
  const { folder, port, seconds, connections, rate } = options;
  const [urls, log, body] = ["urls", "latency.log", "body"].map((name) => join(folder, name));
  const names = Array.from({ length: storedBlobs }, (_, index) => `o${index}`);
  const base = `http://127.0.0.1:${port}/${developmentAccountName}/${container}`;
  writeFileSync(urls!, names.map((name) => `${base}/${name}?${accountSas}\n`).join(""));
  writeFileSync(log!, "");
  writeFileSync(body!, "x".repeat(bodyBytes));
  const writes = ["-H", ":method: PUT", "-H", "x-ms-blob-type: BlockBlob", "-d", body!];
  const perConnection = Math.max(1, Math.round(rate / connections));
  const pace = ["--h1", "-t1", `-c${connections}`, `--rps=${perConnection}`];
  const requests = [`-n${Math.round(rate * seconds)}`, "-i", urls!, `--log-file=${log!}`];
  const headers = ["-H", `x-ms-version: ${version}`, ...(load.writesOfTen > 0 ? writes : [])];
  const text = await outputOf("h2load", [...pace, ...requests, ...headers]);
  if (!/, 0 4xx, 0 5xx/.test(text)) throw new Error(`h2load: ${text}`);
  return percentilesIn(readFileSync(log!, "utf8"));
}

/** Lines are: start, status, duration in microseconds. The first second warms up. */
function percentilesIn(text: string): Latency {
  const rows = text.trimEnd().split("\n");
  const parsed = rows.map((row) => row.split("\t").map(Number) as [number, number, number]);
  const begin = Math.min(...parsed.slice(0, 1000).map(([start]) => start)) + 1e6;
  const durations = parsed
    .filter(([start]) => start >= begin)
    .map(([, , microseconds]) => microseconds / 1000)
    .toSorted((one, other) => one - other);
  const at = (share: number): number => durations[Math.floor(share * durations.length)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}
