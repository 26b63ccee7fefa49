import { decodeBase64, encodeBase64 } from "../../core/base64.ts";
import { formatIso } from "../../core/dates.ts";
import { Records } from "../../execution/records.ts";
import type { Administered } from "../administered.ts";
import { json, refuse, type Answer } from "../answer.ts";
import { askService } from "../ask-service.ts";
import { countOf, type AdminRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { heldLeasePage } from "./held-leases.ts";

const pageStandard = 200;
const pageMax = 1000;

export function leaseRoutes(administered: Administered): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/admin/v1/leases",
      answer: ({ query }) => listLeases(administered, query),
    },
    {
      method: "POST",
      path: "/admin/v1/leases/break",
      answer: (request) => breakLease(administered, request),
    },
  ];
}

function listLeases({ runtime }: Administered, query: URLSearchParams): Promise<Answer> {
  const limit = countOf(query, "limit", { standard: pageStandard, max: pageMax });
  const given = query.get("after");
  const after = given === null ? undefined : decodeBase64(given);
  if (given !== null && after === undefined) {
    return Promise.resolve(refuse(400, "InvalidInput", "after is not from an earlier answer"));
  }
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const { leases, next } = await heldLeasePage(records, { limit, after });
    const page = next === undefined ? {} : { next: encodeBase64(next) };
    return json({ now: formatIso(view.now), leases, ...page });
  });
}

const breakPeriodSecondsMax = 60;
const restypes: Readonly<Record<string, string>> = {
  container: "restype=container&",
  share: "restype=share&",
};

async function breakLease(administered: Administered, request: AdminRequest): Promise<Answer> {
  const wish = (await request.body()) ?? {};
  const { kind, account, container, path, snapshot, periodSeconds = 0 } = wish;
  const isNamed = typeof account === "string" && typeof container === "string";
  const isPeriod = Number.isInteger(periodSeconds) && Number(periodSeconds) >= 0;
  if (!isNamed || !isPeriod || Number(periodSeconds) > breakPeriodSecondsMax) {
    return refuse(400, "InvalidInput", "account, container and periodSeconds up to 60, please");
  }
  const isWhole = kind === "container" || kind === "share";
  if (!isWhole && ((kind !== "blob" && kind !== "file") || typeof path !== "string")) {
    return refuse(400, "InvalidInput", "kind is blob, container, file or share, with a path");
  }
  const isOfSnapshot = kind === "share" && typeof snapshot === "string";
  const ofSnapshot = isOfSnapshot ? `&sharesnapshot=${encodeURIComponent(snapshot)}` : "";
  const service = kind === "blob" || kind === "container" ? "blob" : "file";
  const headers: Record<string, string> = { "x-ms-lease-action": "break" };
  // Files have no period: their leases break at once.
  if (kind !== "file") headers["x-ms-lease-break-period"] = String(Number(periodSeconds));
  const reply = await askService(administered, service, {
    account,
    method: "PUT",
    path: isWhole ? container : `${container}/${String(path)}`,
    query: `${restypes[kind] ?? ""}comp=lease${ofSnapshot}`,
    headers,
  });
  if (reply === undefined) return refuse(404, "AccountNotFound", "there is no such account");
  if (reply.status !== 202) return refuse(reply.status, reply.code, reply.message);
  return json({ secondsLeft: Number(reply.headers["x-ms-lease-time"] ?? "0") });
}
