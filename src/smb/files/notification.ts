import { newResponse } from "../response.ts";
import type { Connection } from "../connection.ts";
import { Status } from "../status.ts";
import { encodeHeader } from "../wire/header.ts";
import { Command, notificationMessageId } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

/** The connection for the notification of an SMB lease break: the oldest one of the client, or one
 *  of the session of the handle if the session requires encryption, whose key no other connection
 *  has. */
export function connectionForLease({
  connection: preferred,
  session,
}: FileHandle): Connection | undefined {
  const connection = session.connectionFor(preferred);
  if (connection === undefined || session.requiresEncryption) return connection;
  return connection.server.clientConnections.oldestAuthenticated(connection) ?? connection;
}

/** Sends a break notification. It is not signed, because its MessageId is always -1. */
export function sendNotification(
  { session }: FileHandle,
  connection: Connection,
  body: Buffer,
): void {
  const { message } = newResponse(body);
  const { encryptor, requiresEncryption } = session;
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
  const mustEncrypt = encryptor !== undefined && requiresEncryption;
  connection.send(mustEncrypt ? encryptor.encrypt([message]) : [message]);
}
