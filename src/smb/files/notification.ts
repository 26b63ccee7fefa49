import { newResponse } from "../response.ts";
import type { Connection } from "../connection.ts";
import { Status } from "../status.ts";
import { encodeHeader } from "../wire/header.ts";
import { Command, notificationMessageId } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

/** Leases belong to a client; without a seal any of its connections will do, the first for all. */
export function connectionForLease({ connection, session }: FileHandle): Connection | undefined {
  const way = session.connectionFor(connection);
  if (way === undefined || session.requiresEncryption) return way;
  return way.server.clients.oldestOf(way) ?? way;
}

/** A message that nobody asked for. It is not signed, because its id is always the same. */
export function sendNotification({ session }: FileHandle, way: Connection, body: Buffer): void {
  const { message } = newResponse(body);
  const { encryptor: sealer, requiresEncryption: encrypts } = session;
  encodeHeader(message, {
    creditCharge: 0,
    status: Status.success,
    command: Command.oplockBreak,
    credits: 0,
    flags: 0,
    messageId: notificationMessageId,
    asyncId: undefined,
    treeId: 0,
    sessionId: 0n,
  });
  const isSealed = sealer !== undefined && encrypts;
  way.send(isSealed ? sealer.encrypt([message]) : [message]);
}
