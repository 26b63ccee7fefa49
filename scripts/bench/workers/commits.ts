import type { Server } from "../servers.ts";

/** Commits so far, of all workers. */
export interface Commits {
  readonly commits: number;
  readonly transactions: number;
}

/** Reads the metrics of the server; undefined if it has none. */
export async function commitsOf({ adminPort }: Server): Promise<Commits | undefined> {
  if (adminPort === undefined) return undefined;
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
  const text = await response.text();
  const sum = (name: string): number =>
    [
      ...text.matchAll(
        new RegExp(`^etagere_store_batch_size_${name}(?:\\{.*\\})? ([\\d.e+]+)$`, "gm"),
      ),
    ]
      .map(([, value]) => Number(value))
      .reduce((total, value) => total + value, 0);
  return { commits: sum("count"), transactions: sum("sum") };
}
