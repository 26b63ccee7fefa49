import { mapped, type Result } from "../result.ts";
import { request, type Service } from "./request.ts";

export interface Leased {
  readonly service: Extract<Service, "blob" | "file">;
  /** Account, container or share, and the path below it if it is not the container itself. */
  readonly path: readonly [string, string] | readonly [string, string, string];
}

export type LeaseAction = "acquire" | "renew" | "release" | "break";

export interface LeaseWish {
  readonly action: LeaseAction;
  readonly leaseId?: string | undefined;
  readonly durationSeconds?: number | undefined;
  readonly breakSeconds?: number | undefined;
}

export async function lease(leased: Leased, wish: LeaseWish): Promise<Result<string>> {
  const isWhole = leased.path.length === 2;
  const restype = leased.service === "blob" ? "container" : "share";
  const answer = await request(leased.service, leased.path, {
    method: "PUT",
    query: { comp: "lease", restype: isWhole ? restype : undefined },
    headers: {
      "x-ms-lease-action": wish.action,
      "x-ms-lease-id": wish.leaseId,
      "x-ms-lease-duration": wish.durationSeconds?.toString(),
      "x-ms-lease-break-period": wish.breakSeconds?.toString(),
    },
  });
  return mapped(answer, ({ headers }) => headers.get("x-ms-lease-id") ?? "");
}
