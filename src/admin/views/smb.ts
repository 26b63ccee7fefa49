import { formatIso } from "../../base/dates.ts";
import { closeFile } from "../../file/filesystem/close.ts";
import { locks } from "../../file/records.ts";
import type { SessionFacts } from "../../smb/server.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, nothing, refuse, type AdminResponse } from "../admin-response.ts";
import { idCheck, isMissing, optional, formatValue, textCheck } from "../inputs.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute, type Route, type PathValues } from "../routes.ts";
import { findShare } from "./names.ts";
import { openFilePage, type SmbFile } from "./open-files.ts";
import { pageChecks, answerPage, readRecords } from "./pages.ts";

/** The routes with which administrators see what SMB clients have open, close files that a client
 *  has left open, and end sessions. */

const closeChecks = {
  account: textCheck,
  share: textCheck,
  fileId: idCheck,
  open: optional(idCheck),
};

export const smbRoutes: readonly Route[] = [
  declareRoute("GET /admin/v1/smb", "principal", list, { query: pageChecks }),
  declareRoute("POST /admin/v1/smb/close", "account", close, {
    acceptsAnyQuery: true,
    body: closeChecks,
  }),
  declareRoute("POST /admin/v1/smb/sessions/:id/close", "account", endSession, { body: {} }),
];

export type SmbSession = ReturnType<typeof renderSession>;

export interface SmbView {
  readonly now: string;
  /** Null if SMB is not served. */
  readonly url: string | null;
  readonly sessions: readonly SmbSession[];
  readonly files: readonly SmbFile[];
  readonly next?: string;
}

function list(request: CheckedRequest): Promise<AdminResponse> {
  const { smb, facts } = request.context;
  return answerPage(request, locks, async (records, bounds) => {
    const { items: files, next } = await openFilePage(records, bounds);
    const view: SmbView = {
      now: formatIso(records.now),
      url: smb === undefined ? null : facts().smbUrl,
      sessions: sessionsOf(smb, bounds.sees).map(renderSession),
      files,
    };
    return { view, next };
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

function renderSession(session: SessionFacts) {
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

async function close({ context, accounts, body }: CheckedRequest): Promise<AdminResponse> {
  const { account, share, fileId, open } = body as unknown as CloseRequest;
  if (accounts.get(account) === undefined) return noAccount(account);
  const file = BigInt(fileId);
  const wanted = isMissing(open) ? undefined : BigInt(open ?? 0);
  const found = await readRecords(context, async (records) => {
    const place = await findShare(records, account, share);
    const state = place && (await records.get(locks, { share: place.id, id: file }));
    return place && { place, opens: state?.opens ?? [] };
  });
  if (found === undefined) {
    return refuse(404, "ShareNotFound", `account ${account} has no share ${formatValue(share)}`);
  }
  const closing = found.opens.filter((each) => wanted === undefined || each.id === wanted);
  const ids = closing.map(({ id }) => id);
  if (ids.length > 0) await closeFile(context.runtime, { share: found.place, file }, ids);
  return json({ closed: closing.length });
}

async function endSession(
  { context: { smb }, sees }: CheckedRequest,
  { id: session = "" }: PathValues,
): Promise<AdminResponse> {
  if (smb === undefined) return refuse(404, "SessionNotFound", "SMB is not served");
  const found = sessionsOf(smb, sees).find(({ id }) => String(id) === session);
  if (found !== undefined && (await smb.end(found.id))) return nothing;
  return refuse(404, "SessionNotFound", `no SMB session ${formatValue(session)}`);
}
