import { mapped, type Result } from "../result.ts";
import { request, type Service } from "./request.ts";

export interface Leased {
  readonly service: Extract<Service, "blob" | "file">;
  /** Account, container or share, and the path of a blob or file. */
  readonly path: readonly [string, string] | readonly [string, string, string];
}

type LeaseAction = "acquire" | "renew" | "release" | "break";

export interface LeaseRequest {
  readonly action: LeaseAction;
  readonly leaseId?: string | undefined;
  readonly durationSeconds?: number | undefined;
  /** The id that an acquired lease gets; undefined: a random one. */
  readonly proposedId?: string | undefined;
  readonly breakSeconds?: number | undefined;
}

export async function lease(leased: Leased, leaseRequest: LeaseRequest): Promise<Result<string>> {
  const isWhole = leased.path.length === 2;
  const restype = leased.service === "blob" ? "container" : "share";
  const answer = await request(leased.service, leased.path, {
    method: "PUT",
    query: { comp: "lease", restype: isWhole ? restype : undefined },
    headers: {
      "x-ms-lease-action": leaseRequest.action,
      "x-ms-lease-id": leaseRequest.leaseId,
      "x-ms-proposed-lease-id": leaseRequest.proposedId,
      "x-ms-lease-duration": leaseRequest.durationSeconds?.toString(),
      "x-ms-lease-break-period": leaseRequest.breakSeconds?.toString(),
    },
  });
  return mapped(answer, ({ headers }) => headers.get("x-ms-lease-id") ?? "");
}
