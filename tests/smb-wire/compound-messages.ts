import { closeBody, createBody, renameInfo, setInfoBody, Access } from "./wire-messages.ts";
import type { Handle, WireClient } from "./wire-client.ts";

const related = 4;
const headerBytes = 64;

export const Command = {
  create: 5,
  close: 6,
  read: 8,
  write: 9,
  lock: 10,
  notify: 15,
  setInfo: 17,
} as const;

/** The FileId of a related request. */
export const previousHandle: Handle = {
  persistent: 0xffff_ffff_ffff_ffffn,
  volatile: 0xffff_ffff_ffff_ffffn,
};

/** Sends requests as one compound, each related to the one before it. */
export function sendCompound(
  client: WireClient,
  elements: readonly (readonly [command: number, body: Buffer])[],
) {
  const prepared = elements.map(([command, body], index) => {
    const isLast = index === elements.length - 1;
    const padding = isLast ? 0 : (8 - (body.length % 8)) % 8;
    const padded = Buffer.concat([body, Buffer.alloc(padding)]);
    const next = isLast ? 0 : headerBytes + padded.length;
    return client.prepare(command, padded, { next, flags: index === 0 ? 0 : related });
  });
  client.sendRaw(Buffer.concat(prepared.map(({ message }) => message)));
  return prepared;
}

const renameClass = 10;

/** The rename of the Linux kernel: a compound of three requests. */
export function sendRename(client: WireClient, name: string, to: string, replaces = false) {
  return sendCompound(client, [
    [Command.create, createBody(name, { access: Access.delete, disposition: 1 })],
    [Command.setInfo, setInfoBody(previousHandle, renameClass, renameInfo(to, replaces))],
    [Command.close, closeBody(previousHandle)],
  ]);
}

/** The final status of each element. */
export async function statusesOf(
  elements: readonly { readonly answer: Promise<{ readonly status: number }> }[],
): Promise<readonly number[]> {
  const answers = await Promise.all(elements.map(({ answer }) => answer));
  return answers.map(({ status }) => status);
}
