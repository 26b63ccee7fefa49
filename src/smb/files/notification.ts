import { answer } from "../answer.ts";
import { Status } from "../status.ts";
import { encodeHeader } from "../wire/header.ts";
import { Command, notificationMessageId } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

/** A message that nobody asked for. It is not signed, because its id is always the same. */
export function sendNotification({ connection, session }: FileHandle, body: Buffer): void {
  const way = session.wayTo(connection);
  if (way === undefined) return;
  const { message } = answer(body);
  const { sealer, encrypts } = session;
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
  way.send(isSealed ? sealer.seal([message]) : [message]);
}
