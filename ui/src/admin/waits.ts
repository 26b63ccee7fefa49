import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { WaitsView, StoredView } from "../../../src/admin/api-types.ts";

export type { Wait, WaitsView, StoredView } from "../../../src/admin/api-types.ts";

export const getWaits = (signal?: AbortSignal): Promise<Result<WaitsView>> =>
  admin("waits", { signal });

export const getStored = (account: string, signal?: AbortSignal): Promise<Result<StoredView>> =>
  admin("stored", { query: { account }, signal });
