import { heldLeases } from "../../account/held-leases.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { formatIso } from "../../base/dates.ts";
import { Records } from "../../operation/records.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { callService } from "../call-service.ts";
import { oneOf, optional, textCheck, wholeNumber, wholeNumberText } from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { heldLeasePage } from "./held-leases.ts";
import { parseContinuationKey } from "./continuation-key.ts";

const pageDefault = 200;
const pageMax = 1000;
const breakPeriodSecondsMax = 60;

export function leaseRoutes(context: ViewContext): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/admin/v1/leases",
      access: "principal",
      query: {
        limit: optional(wholeNumberText({ min: 1, max: pageMax })),
        after: optional(textCheck),
      },
      answer: (request) => listLeases(context, request),
    },
    {
      method: "POST",
      path: "/admin/v1/leases/break",
      access: "principal",
      body: {
        kind: oneOf(["blob", "container", "file", "share"]),
        account: textCheck,
        container: textCheck,
        path: optional(textCheck),
        snapshot: optional(textCheck),
        periodSeconds: optional(wholeNumber({ min: 0, max: breakPeriodSecondsMax })),
      },
      answer: (request) => breakLease(context, request),
    },
  ];
}

async function listLeases(
  { runtime }: ViewContext,
  request: CheckedRequest,
): Promise<AdminResponse> {
  const { query, sees } = request;
  const limit = countOf(query, "limit", pageDefault);
  const after = parseContinuationKey(query, heldLeases.range([]));
  if ("refusal" in after) return after.refusal;
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const { leases, next } = await heldLeasePage(records, { limit, after: after.key, sees });
    const page = next === undefined ? {} : { next: encodeBase64(next) };
    return json({ now: formatIso(view.now), leases, ...page });
  });
}

interface BreakRequest {
  readonly kind: "blob" | "container" | "file" | "share";
  readonly account: string;
  readonly container: string;
  readonly path?: string | null;
  readonly snapshot?: string | null;
  readonly periodSeconds?: number | null;
}

async function breakLease(context: ViewContext, request: CheckedRequest): Promise<AdminResponse> {
  const { accounts, grant, body } = request;
  const breakRequest = body as unknown as BreakRequest;
  const { kind, account, container, path, snapshot } = breakRequest;
  const isWhole = kind === "container" || kind === "share";
  const problem = findConflictingFields(breakRequest);
  if (problem !== undefined) return refuse(400, "InvalidInput", problem);
  const service = kind === "blob" || kind === "container" ? "blob" : "file";
  const headers: Record<string, string> = { "x-ms-lease-action": "break" };
  // Leases of files have no break period.
  if (kind !== "file") headers["x-ms-lease-break-period"] = String(breakRequest.periodSeconds ?? 0);
  const reply = await callService(context, service, {
    accounts,
    grant,
    account,
    method: "PUT",
    path: isWhole ? container : `${container}/${path ?? ""}`,
    query: {
      ...(isWhole ? { restype: kind } : {}),
      comp: "lease",
      ...(snapshot ? { sharesnapshot: snapshot } : {}),
    },
    headers,
  });
  if (reply === undefined) return noAccount(account);
  if (reply.status !== 202) return refuse(reply.status, reply.code, reply.message);
  return json({ secondsLeft: Number(reply.headers["x-ms-lease-time"] ?? "0") });
}

function findConflictingFields({ kind, path, snapshot }: BreakRequest): string | undefined {
  const isWhole = kind === "container" || kind === "share";
  if (isWhole && path) return `path is not allowed for a ${kind}`;
  if (!isWhole && !path) return `path is missing: the name of the ${kind}`;
  return kind !== "share" && snapshot ? `snapshot is for a share, not for a ${kind}` : undefined;
}
