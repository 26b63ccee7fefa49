import { newResponse } from "../response.ts";
import type { Connection } from "../connection.ts";
import { Status } from "../status.ts";
import { encodeHeader } from "../wire/header.ts";
import { Command, notificationMessageId } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

/** Lease breaks may use any connection of the client, unless they must be encrypted. */
export function connectionForLease({
  connection: preferred,
  session,
}: FileHandle): Connection | undefined {
  const connection = session.connectionFor(preferred);
  if (connection === undefined || session.requiresEncryption) return connection;
  return connection.server.clients.oldestOf(connection) ?? connection;
}

/** Sends a break notification; unsigned, because its MessageId is always -1. */
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
