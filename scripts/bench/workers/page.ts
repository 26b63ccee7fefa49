import type { Machine } from "../results.ts";
import type { LatencyRow, WorkerRow } from "../workers.ts";

/** The page of the documents with all figures. */
export function pageOf(
  { processor, cores, kernel, node, commit, date }: Machine,
  rows: readonly WorkerRow[],
  latencies: readonly LatencyRow[],
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): string {
  return `# Benchmark of worker processes

Written by \`npm run bench -- --workers --page docs/bench/workers.md\`: one server with one
worker and one with two, and a plain server of Node (one process, answers from memory).
Each load runs for 10 s before it is measured. Rounds alternate, ${rounds} of ${seconds} s each;
medians. **Servers and generator share the processors.** CPU time is that of all processes of a
server, per request. Ratios are to one worker in the same round. The CPU time of the generator is
mostly the kernel's: sending over the loopback interface includes delivery to the server's socket.

${date}, commit ${commit}; ${processor}, ${cores} cores; Linux ${kernel}, Node ${node}.

| ${columns.join(" | ")} |
|---|---:|---|---:|---:|---:|---:|---:|---:|---:|
${rows.map(lineOf).join("\n")}

## Latency at half of the highest rate

64 connections send at a fixed rate (h2load). Milliseconds from sending to the complete response.

| load | server | per second | p50 | p99 | p99.9 |
|---|---|---:|---:|---:|---:|
${latencies.map(latencyLine).join("\n")}
`;
}

const columns = [
  "load",
  "connections",
  "server",
  "per second",
  "ratio",
  "CPU µs",
  "ratio",
  "transactions per commit",
  "generator µs",
  "in user mode",
];

function lineOf(row: WorkerRow): string {
  const { load, connections, server, perSecond, cpuMicroseconds } = row;
  const perCommit = row.transactionsPerCommit?.toFixed(1) ?? "";
  const cells = [
    load,
    connections,
    server,
    Math.round(perSecond).toLocaleString("en"),
    row.rateRatio.toFixed(2),
    cpuMicroseconds.toFixed(1),
    row.cpuRatio.toFixed(2),
    perCommit,
    row.generatorMicroseconds.toFixed(1),
    row.generatorUserMicroseconds.toFixed(1),
  ];
  return `| ${cells.join(" | ")} |`;
}

function latencyLine({ load, server, rate, p50, p99, p999 }: LatencyRow): string {
  const milliseconds = [p50, p99, p999].map((each) => each.toFixed(2));
  const perSecond = Math.round(rate).toLocaleString("en");
  return `| ${[load, server, perSecond, ...milliseconds].join(" | ")} |`;
}
