import { newResponse, emptyResponse, type CommandResult } from "../response.ts";
import { findShare } from "../files/shares.ts";
import type { FileHandle } from "../files/file-handle.ts";
import type { SessionRequest, TreeRequest } from "../request.ts";
import { treesMax } from "../limits.ts";
import { Status } from "../status.ts";
import { ShareType } from "../wire/protocol.ts";
import { decodeTreeConnect, encodeTreeConnectResponse } from "../wire/session.ts";

const pipeShare = "ipc$";
const pipes = { accountName: "", account: 0n, name: pipeShare, id: 0n };
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
  const isDisk = name !== pipeShare;
  const { runtime } = connection.server.world;
  const share = isDisk ? await findShare(runtime, session.account, name) : pipes;
  if (share === undefined) return Status.badNetworkName;
  const id = session.nextTreeId();
  session.trees.set(id, { id, kind: isDisk ? "disk" : "pipe", share });
  connection.server.world.log.debug({ share: name, peer: connection.peer }, "share connected");
  const body = encodeTreeConnectResponse({
    shareType: isDisk ? ShareType.disk : ShareType.pipe,
    shareFlags: isDisk ? 0 : noCaching,
    maximalAccess: isDisk ? fullAccess : pipeAccess,
  });
  return { ...newResponse(body), treeId: id };
}

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
