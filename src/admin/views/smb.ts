import type { SmbSession, SmbView } from "../api-types.ts";
import { formatIso } from "../../base/dates.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { Records } from "../../operation/records.ts";
import { closeFile } from "../../file/filesystem/close.ts";
import { locks } from "../../file/records.ts";
import type { SessionFacts } from "../../smb/administration.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, nothing, refuse, type AdminResponse } from "../admin-response.ts";
import {
  idCheck,
  isMissing,
  optional,
  formatValue,
  textCheck,
  wholeNumberText,
} from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { findShare } from "./find-share.ts";
import { openFilePage } from "./open-files.ts";
import { parseContinuationKey } from "./continuation-key.ts";

const pageDefault = 200;
const pageMax = 1000;

/** Lists SMB sessions and open files, closes handles and ends sessions. */
export function smbRoutes(context: ViewContext): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/admin/v1/smb",
      access: "principal",
      query: {
        limit: optional(wholeNumberText({ min: 1, max: pageMax })),
        after: optional(textCheck),
      },
      answer: (request) => list(context, request),
    },
    {
      method: "POST",
      path: "/admin/v1/smb/close",
      access: "account",
      body: { account: textCheck, share: textCheck, fileId: idCheck, open: optional(idCheck) },
      answer: (request) => close(context, request),
    },
    {
      method: "POST",
      path: "/admin/v1/smb/sessions/:id/close",
      access: "account",
      query: {},
      body: {},
      answer: (request, { id = "" }) => endSession(context, request, id),
    },
  ];
}

async function list(
  { runtime, smb, facts }: ViewContext,
  { query, sees }: CheckedRequest,
): Promise<AdminResponse> {
  const limit = countOf(query, "limit", pageDefault);
  const after = parseContinuationKey(query, locks.range([]));
  if ("refusal" in after) return after.refusal;
  return runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const { files, next } = await openFilePage(records, { limit, after: after.key, sees });
    const shown: SmbView = {
      now: formatIso(view.now),
      url: smb === undefined ? null : facts().smbUrl,
      sessions: sessionsOf(smb, sees).map(renderSession),
      files,
      ...(next === undefined ? {} : { next: encodeBase64(next) }),
    };
    return json(shown);
  });
}

function sessionsOf(
  smb: ViewContext["smb"],
  sees: CheckedRequest["sees"],
): readonly SessionFacts[] {
  const isSeen = ({ account }: SessionFacts): boolean =>
    sees({ service: "file", account, name: undefined });
  return (smb?.sessions() ?? []).filter(isSeen);
}

function renderSession(session: SessionFacts): SmbSession {
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

interface CloseRequest {
  readonly account: string;
  readonly share: string;
  readonly fileId: string | number;
  readonly open?: string | number | null;
}

async function close(
  { runtime }: ViewContext,
  { accounts, body }: CheckedRequest,
): Promise<AdminResponse> {
  const { account, share, fileId, open } = body as unknown as CloseRequest;
  if (accounts.get(account) === undefined) return noAccount(account);
  const file = BigInt(fileId);
  const wanted = isMissing(open) ? undefined : BigInt(open ?? 0);
  const found = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const place = await findShare(records, account, share);
    const state = place && (await records.get(locks, { share: place.id, id: file }));
    return place && { place, opens: state?.opens ?? [] };
  });
  if (found === undefined) {
    return refuse(404, "ShareNotFound", `account ${account} has no share ${formatValue(share)}`);
  }
  const closing = found.opens.filter((each) => wanted === undefined || each.id === wanted);
  const ids = closing.map(({ id }) => id);
  if (ids.length > 0) await closeFile(runtime, { share: found.place, file }, ids);
  return json({ closed: closing.length });
}

async function endSession(
  { smb }: ViewContext,
  { sees }: CheckedRequest,
  session: string,
): Promise<AdminResponse> {
  if (smb === undefined) return refuse(404, "SessionNotFound", "SMB is not served");
  const found = sessionsOf(smb, sees).find(({ id }) => String(id) === session);
  if (found !== undefined && (await smb.end(found.id))) return nothing;
  return refuse(404, "SessionNotFound", `no SMB session ${formatValue(session)}`);
}
