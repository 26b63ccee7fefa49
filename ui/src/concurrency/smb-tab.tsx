import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  closeOpens,
  closeSession,
  type SmbFile,
  type SmbSession,
  type SmbView,
} from "../admin/live.ts";
import { moment, plural } from "../format.ts";
import type { Loaded } from "../load.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { describeFailure, notify, report } from "../parts/notices.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import { ResourceLink } from "./resource-link.tsx";

export function SmbTab({ loaded }: { readonly loaded: Loaded<SmbView> }): JSX.Element | null {
  const [closed, setClosed] = useState<SmbSession>();
  if (loaded.value === undefined) return null;
  const { sessions, files, url } = loaded.value;
  if (sessions.length + files.length === 0) {
    return (
      <div class="list">
        <Empty>
          {url === null ? "SMB is not served." : `No SMB sessions. Clients connect to ${url}.`}
        </Empty>
      </div>
    );
  }
  return (
    <div class="scroll">
      {closed !== undefined && (
        <CloseSession
          session={closed}
          onClose={() => setClosed(undefined)}
          onDone={loaded.reload}
        />
      )}
      <section class="section">
        <h2>Sessions</h2>
        <ul class="cards">
          {sessions.map((session) => (
            <li key={session.id} class="card">
              <strong>{session.client}</strong>
              <span class="soft">
                {session.account}, SMB {session.dialect}
              </span>
              <span>
                {session.signed && <Badge>signed</Badge>}{" "}
                {session.encrypted && <Badge tone="good">encrypted</Badge>}
              </span>
              <span class="soft">
                {session.shares.join(", ")}: {plural(session.opens, "open")}
              </span>
              <Button kind="danger" needs="administer" onClick={() => setClosed(session)}>
                Close session
              </Button>
            </li>
          ))}
        </ul>
      </section>
      <section class="section">
        <h2>Open files</h2>
        {files.map((file) => (
          <OpenFile key={`${file.share}${file.fileId}`} file={file} onChanged={loaded.reload} />
        ))}
      </section>
    </div>
  );
}

interface CloseSessionProps {
  readonly session: SmbSession;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function CloseSession({ session, onClose, onDone }: CloseSessionProps): JSX.Element {
  const { id, client, opens } = session;
  const end = async (): Promise<string | undefined> => {
    const result = await closeSession(id);
    if (!result.ok) return describeFailure(result.failure);
    notify("good", "Session closed");
    onDone();
    return undefined;
  };
  return (
    <Confirm
      title="Close session"
      text={`Close the session of ${client} with ${plural(opens, "open handle")}?`}
      action="Close session"
      onConfirm={end}
      onClose={onClose}
    >
      <p class="hint">Its locks are released; what the client has not written yet is lost.</p>
    </Confirm>
  );
}

interface OpenFileProps {
  readonly file: SmbFile;
  readonly onChanged: () => void;
}

function OpenFile({ file, onChanged }: OpenFileProps): JSX.Element {
  const { account, share, path, deletePending, caches } = file;
  const end = async (open?: string): Promise<void> => {
    if (report(await closeOpens(file, open), "Handle closed")) onChanged();
  };
  return (
    <article class="open-file" aria-label={path}>
      <header class="open-file-head">
        <ResourceLink resource={{ service: "file", account, container: share, path }} />
        {deletePending && <Badge tone="bad">delete pending</Badge>}
        {caches.map(({ kind, held, breakingTo, key }, index) => (
          <Badge key={key ?? index} tone={breakingTo === undefined ? "accent" : "warn"}>
            {kind} {held}
            {breakingTo === undefined ? "" : ` → ${breakingTo}`}
          </Badge>
        ))}
        <span class="grow" />
        <Button kind="danger" needs="administer" onClick={() => void end()}>
          Close all handles
        </Button>
      </header>
      <div class="table-wrap">
        <OpensTable file={file} onClose={(open) => void end(open)} />
      </div>
    </article>
  );
}

interface OpensTableProps {
  readonly file: SmbFile;
  readonly onClose: (open: string) => void;
}

function OpensTable({ file, onClose }: OpensTableProps): JSX.Element {
  return (
    <table class="plain-table">
      <thead>
        <tr>
          {["Client", "Access", "Shares", "Locks", "Opened", ""].map((title) => (
            <th key={title} scope="col">
              {title === "" ? <span class="unseen">Actions</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {file.opens.map((open) => (
          <tr key={open.id}>
            <td>
              {open.client}{" "}
              {open.disconnectedAt !== undefined && <Badge tone="warn">disconnected</Badge>}
            </td>
            <td>
              {open.access.join(", ")}{" "}
              {open.deleteOnClose && <Badge tone="bad">delete on close</Badge>}
            </td>
            <td>{open.shareMode.join(", ") || "nothing"}</td>
            <td>
              <Locks file={file} open={open.id} />
            </td>
            <td>{moment(open.openedAt)}</td>
            <td class="end">
              <Button needs="administer" onClick={() => onClose(open.id)}>
                Close handle
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Describes a byte range. Offsets have 64 bits, more than a number represents exactly. */
function rangeWords(offset: string, length: string): string {
  if (length === "0") return `at byte ${offset}`;
  return `bytes ${offset}–${BigInt(offset) + BigInt(length) - 1n}`;
}

function Locks({ file, open }: { readonly file: SmbFile; readonly open: string }): JSX.Element {
  const locks = file.locks.filter((lock) => lock.open === open);
  if (locks.length === 0) return <span class="soft">none</span>;
  return (
    <>
      {locks.map(({ offset, length, exclusive }) => (
        <Badge key={`${offset}-${length}`} tone="warn">
          {rangeWords(offset, length)} {exclusive ? "exclusive" : "shared"}
        </Badge>
      ))}
    </>
  );
}
