import { formatIso } from "../../core/dates.ts";
import { decodeBase64, encodeBase64 } from "../../core/base64.ts";
import { Records } from "../../execution/records.ts";
import { closeFile } from "../../file/filesystem/close.ts";
import { locks } from "../../file/records.ts";
import type { SessionFacts } from "../../smb/administration.ts";
import type { Administered } from "../administered.ts";
import { json, nothing, refuse, type Answer } from "../answer.ts";
import { countOf, type AdminRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { findShare } from "./find-share.ts";
import { openFilePage } from "./open-files.ts";

const pageStandard = 200;
const pageMax = 1000;

export function smbRoutes(administered: Administered): readonly Route[] {
  return [
    { method: "GET", path: "/admin/v1/smb", answer: ({ query }) => list(administered, query) },
    {
      method: "POST",
      path: "/admin/v1/smb/close",
      answer: (request) => close(administered, request),
    },
    {
      method: "POST",
      path: "/admin/v1/smb/sessions/:id/close",
      answer: (_request, { id = "" }) => endSession(administered, id),
    },
  ];
}

function list({ runtime, smb, facts }: Administered, query: URLSearchParams): Promise<Answer> {
  const limit = countOf(query, "limit", { standard: pageStandard, max: pageMax });
  const after = decodeBase64(query.get("after") ?? "");
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const { files, next } = await openFilePage(records, { limit, after });
    return json({
      now: formatIso(view.now),
      url: smb === undefined ? null : facts().smbUrl,
      sessions: (smb?.sessions() ?? []).map(shownSession),
      files,
      ...(next === undefined ? {} : { next: encodeBase64(next) }),
    });
  });
}

function shownSession(session: SessionFacts): object {
  const { id, account, clients, dialect, isSigned, isEncrypted, shares, openCount } = session;
  return {
    id: String(id),
    account,
    client: clients.join(", "),
    dialect,
    signed: isSigned,
    encrypted: isEncrypted,
    shares,
    opens: openCount,
  };
}

const number = /^\d{1,20}$/;

async function close({ runtime }: Administered, request: AdminRequest): Promise<Answer> {
  const { account, share, fileId, open } = (await request.body()) ?? {};
  const ids = [fileId, open ?? "0"].map(String);
  const isNamed = typeof account === "string" && typeof share === "string";
  if (!isNamed || !ids.every((id) => number.test(id))) {
    return refuse(400, "InvalidInput", "account, share and fileId, please, and open for one alone");
  }
  const file = BigInt(ids[0] ?? "0");
  const wanted = open === undefined ? undefined : BigInt(ids[1] ?? "0");
  const found = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const place = await findShare(records, account, share);
    const state = place && (await records.get(locks, { share: place.id, id: file }));
    return place && { place, opens: state?.opens ?? [] };
  });
  if (found === undefined) return refuse(404, "ShareNotFound", "there is no such share");
  const closing = found.opens.filter(({ id }) => wanted === undefined || id === wanted);
  for (const { id } of closing) await closeFile(runtime, { share: found.place, file }, id);
  return json({ closed: closing.length });
}

async function endSession({ smb }: Administered, id: string): Promise<Answer> {
  const isThere = number.test(id) && (await smb?.end(BigInt(id))) === true;
  return isThere ? nothing : refuse(404, "SessionNotFound", "there is no such session");
}
