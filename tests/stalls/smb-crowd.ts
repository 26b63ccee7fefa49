import { rawClient } from "../harness/raw-client.ts";
import { freshName } from "../harness/server.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { createBody, handleOf, type OpenOptions } from "../smb-wire/wire-messages.ts";
import type { Handle } from "../smb-wire/wire-client.ts";
import type { StallServer } from "./loop-stall.ts";

/** A session with many channels: opens belong to the session and share commits. */
export interface Crowd {
  readonly channels: readonly WireClient[];
  readonly share: string;
}

/** As many as a session may have: opens wait for a commit, so more channels share each one. */
const channelsMax = 32;

export async function newShare({ urls }: StallServer): Promise<string> {
  const share = freshName("crowd");
  const made = await rawClient(urls.file).send({ method: "PUT", path: `/${share}?restype=share` });
  if (made.status !== 201) throw new Error(`no share: ${made.status}`);
  return share;
}

export async function gather(server: StallServer, share: string, count = channelsMax) {
  const first = await WireClient.ready(server.urls.smb, share);
  const channels = [first];
  while (channels.length < count) {
    const next = await WireClient.open(server.urls.smb);
    next.clientGuid = first.clientGuid;
    await next.negotiate();
    await next.join(first);
    channels.push(next);
  }
  return { channels, share } satisfies Crowd;
}

/** Requests that a channel sends before it waits for the first response. All opens that arrive
 *  during a commit share the next one. */
const requestsAtOnce = 16;

/** Opens `count` files, named by their index, over all channels at once. */
export async function openMany(
  { channels }: Crowd,
  count: number,
  given: (index: number) => OpenOptions & { readonly name: string },
): Promise<readonly Handle[]> {
  const handles: Handle[] = [];
  let next = 0;
  const openSome = async (client: WireClient): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const { name, ...options } = given(index);
      const answer = await client.ask(5, createBody(name, options));
      if (answer.status !== 0) throw new Error(`open failed: ${answer.status.toString(16)}`);
      handles[index] = handleOf(answer);
    }
  };
  const workers = channels.flatMap((client) =>
    Array.from({ length: requestsAtOnce }, () => client),
  );
  await Promise.all(workers.map(openSome));
  return handles;
}

export function disperse({ channels }: Crowd): void {
  for (const channel of channels) channel.end();
}
