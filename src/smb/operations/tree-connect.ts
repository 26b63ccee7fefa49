import { newResponse, emptyResponse, type CommandResult } from "../response.ts";
import { findShare } from "../files/shares.ts";
import type { FileHandle } from "../files/file-handle.ts";
import type { SessionRequest, TreeRequest } from "../request.ts";
import { treesMax } from "../limits.ts";
import { Status } from "../status.ts";
import type { TreeConnect } from "../session.ts";
import { ShareType } from "../wire/protocol.ts";
import { decodeTreeConnect, encodeTreeConnectResponse } from "../wire/session.ts";

const pipeShare = "ipc$";
const sharePath = /^\\\\[^\\]+\\([^\\]+)$/;
/** SMB2_SHAREFLAG_NO_CACHING, for the named pipes: clients must not cache what they read. */
const noCaching = 0x30;
/** Maximal access to a share: every right of a file. */
const fullAccess = 0x001f_01ff;
const pipeAccess = 0x001f_00a9;

/** TREE_CONNECT: connects a session to a share, or to the named pipes (IPC$). */
export async function treeConnect(request: SessionRequest): Promise<CommandResult> {
  const { connection, session } = request;
  const decoded = decodeTreeConnect(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const name = sharePath.exec(decoded.path)?.[1]?.toLowerCase();
  if (name === undefined) return Status.badNetworkName;
  if (session.trees.size >= treesMax) return Status.insufficientResources;
  const treeTarget = await findTreeTarget(request, name);
  if (treeTarget === undefined) return Status.badNetworkName;
  const id = session.nextTreeId();
  session.trees.set(id, { id, shareName: name, ...treeTarget });
  connection.server.world.log.debug({ share: name, peer: connection.peer }, "share connected");
  const isDisk = treeTarget.kind === "disk";
  const body = encodeTreeConnectResponse({
    shareType: isDisk ? ShareType.disk : ShareType.pipe,
    shareFlags: isDisk ? 0 : noCaching,
    maximalAccess: isDisk ? fullAccess : pipeAccess,
  });
  return { ...newResponse(body), treeId: id };
}

async function findTreeTarget(
  { connection, session }: SessionRequest,
  name: string,
): Promise<Pick<TreeConnect, "kind" | "shareId" | "address"> | undefined> {
  if (name === pipeShare) return { kind: "pipe", shareId: 0n, address: noShare };
  const found = await findShare(connection.server.world.runtime, session.account, name);
  return found && { kind: "disk", shareId: found.id, address: found };
}

const noShare = { accountName: "", account: 0n, name: "", id: 0n };

/** TREE_DISCONNECT: closes all handles of the tree connect. */
export async function treeDisconnect(request: TreeRequest): Promise<CommandResult> {
  const { connection, session, tree } = request;
  session.trees.delete(tree.id);
  const files: FileHandle[] = [];
  for (const handle of session.handles.values()) {
    if (handle.tree !== tree) continue;
    session.handles.delete(handle.id.volatile);
    if (handle.kind === "file") files.push(handle);
  }
  await connection.server.handleCloser.close(files);
  return emptyResponse();
}
