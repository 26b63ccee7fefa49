import type { BenchOptions } from "./options.ts";
export async function measureGrowth(_: BenchOptions): Promise<void> {}
