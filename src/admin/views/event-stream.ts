import type { ServerResponse } from "node:http";
import {
  eventLog,
  eventLogTrims,
  isOfFile,
  positionInId,
  readEvents,
  type LoggedEvent,
} from "../../account/event-log.ts";
import { readAccount } from "../../account/account-record.ts";
import { toEventGrid, type EventSource } from "../../events/render-event.ts";
import { appendsMax, comparePositions, type LogPosition } from "../../store/logs.ts";
import { readRecord } from "../../store/typed-records.ts";
import type { ViewContext } from "../admin-context.ts";
import {
  beginEventStream,
  eventText,
  noAccount,
  refuse,
  type AdminResponse,
} from "../admin-response.ts";
import { reachable } from "../connection-string.ts";
import { findQueryError, optional, textCheck, type Check } from "../inputs.ts";
import type { AuthenticatedRequest } from "../request.ts";
import type { RawRoute } from "../routes.ts";

/** The route `/admin/v1/events`: streams of the event log of an account, for `etagere events tail`
 *  and the page "Events" of the explorer. */

/** Open streams; a further one is rejected with 503. */
const streamsMax = 32;
/** Events that are read from the store at once. */
const readMax = 200;
/** A stream without events gets a comment this often, so that proxies keep it open. */
const heartbeatMilliseconds = 15_000;
/** No more events are read while a client leaves so many bytes unread. */
const unsentBytesMax = 256 * 1024;
const positionForm = /^(\d{1,16})-(\d{1,5})$/;
const expected = "must be the id of an event, a position such as 123-0, or now";

function isPosition(text: string): boolean {
  return positionForm.test(text) || positionInId(text, 0) !== undefined;
}

const afterCheck: Check = (value) =>
  typeof value === "string" && (value === "now" || isPosition(value)) ? undefined : expected;

/** The open streams. They read the event log itself, in the store. So unlike the request feed they
 *  are complete, and a client that reconnects with the last id it has seen continues after it. */
export class EventStreams {
  readonly #context: ViewContext;
  readonly #responses = new Set<ServerResponse>();

  constructor(context: ViewContext) {
    this.#context = context;
  }

  route(): RawRoute {
    return {
      method: "GET",
      path: "/admin/v1/events",
      access: "principal",
      serve: ({ request, response }) => this.#open(request, response),
    };
  }

  close(): void {
    for (const response of this.#responses) response.end();
  }

  async #open(
    request: AuthenticatedRequest,
    response: ServerResponse,
  ): Promise<AdminResponse | undefined> {
    const { query, headers, accounts } = request;
    const wrong = findQueryError(query, { account: textCheck, after: optional(afterCheck) });
    if (wrong !== undefined) return refuse(400, "InvalidInput", wrong);
    const name = query.get("account") ?? "";
    if (accounts.get(name) === undefined) return noAccount(name);
    // An invalid id is rejected: a stream that began now instead would lose events without notice.
    const last = headers["last-event-id"] ?? "";
    const isWrong = typeof last !== "string" || (last !== "" && !isPosition(last));
    if (isWrong) return refuse(400, "InvalidInput", `Last-Event-ID ${expected}`);
    const given = last || query.get("after") || "now";
    const { store } = this.#context.runtime;
    const found = await store.snapshot(async (view) => ({
      account: await readAccount(view, name),
      after: positionOf(given, view.sequence),
    }));
    if (found.account?.events === undefined) {
      const advice = "it has neither a change feed nor a subscription";
      return refuse(409, "NoEventLog", `account "${name}" writes no events: ${advice}`);
    }
    if (this.#responses.size >= streamsMax) {
      return refuse(503, "TooManyStreams", `the limit of ${streamsMax} streams is reached`);
    }
    beginEventStream(response);
    // The client sends this position as Last-Event-ID if it loses the connection before the first
    // event.
    response.write(`id: ${idOf(found.after)}\n\n`);
    this.#responses.add(response);
    void this.#serve(request, response, { name, after: found.after })
      .catch((error: unknown) => {
        this.#context.log.warn({ err: error }, "event stream failed; closed");
        response.destroy();
      })
      .finally(() => this.#responses.delete(response));
    return undefined;
  }

  async #serve(
    request: AuthenticatedRequest,
    response: ServerResponse,
    { name, after }: { readonly name: string; readonly after: LogPosition },
  ): Promise<void> {
    const { runtime, clock } = this.#context;
    let raise = (): void => {};
    const wake = (): void => raise();
    const unwatch = runtime.store.watch(eventLog.prefix([]), wake);
    response.on("close", wake);
    response.on("drain", wake);
    let position = after;
    try {
      while (!response.destroyed && !response.writableEnded && request.isValid()) {
        const raised = new Promise<void>((resolve) => {
          raise = resolve;
        });
        if (response.writableLength > unsentBytesMax) {
          await raised;
          continue;
        }
        const { events, trimmed } = await this.#read(name, position);
        // Another process may have deleted the principal, or its role, since the stream began.
        await this.#context.identity?.refresh();
        if (!request.isValid()) break;
        if (trimmed !== undefined && comparePositions(trimmed, position) > 0) {
          const through = idOf(trimmed);
          response.write(eventText("missed", { through }, through));
          position = trimmed;
          continue;
        }
        response.write(this.#render(request, name, events));
        position = events.at(-1)?.position ?? position;
        if (events.length > 0) continue;
        const cancel = clock.after(heartbeatMilliseconds, wake);
        await raised;
        cancel();
      }
    } finally {
      unwatch();
      response.end();
    }
  }

  #read(
    name: string,
    after: LogPosition,
  ): Promise<{
    readonly events: readonly LoggedEvent[];
    readonly trimmed: LogPosition | undefined;
  }> {
    return this.#context.runtime.store.snapshot(async (view) => {
      const account = await readAccount(view, name);
      if (account === undefined) return { events: [], trimmed: undefined };
      const trimmed = (await readRecord(view, eventLogTrims, account.id))?.position;
      return { events: await readEvents(view, account.id, after, readMax), trimmed };
    });
  }

  /** The events that the caller may see; a comment if there are none. */
  #render({ sees }: AuthenticatedRequest, account: string, events: readonly LoggedEvent[]): string {
    const { urls } = this.#context.facts();
    const source: EventSource = {
      account,
      blobUrl: `${reachable(urls.blob ?? "")}/${account}`,
      fileUrl: `${reachable(urls.file ?? "")}/${account}`,
    };
    const seen = events.filter(({ event }) => {
      const service = isOfFile(event) ? "file" : "blob";
      return sees({ service, account, name: event.container });
    });
    const texts = seen.map((logged) =>
      eventText("event", toEventGrid(logged, source), idOf(logged.position)),
    );
    return texts.length === 0 ? ":\n\n" : texts.join("");
  }
}

function idOf({ sequence, number }: LogPosition): string {
  return `${sequence}-${number}`;
}

/** The position that a client gives as an event id, as `SEQUENCE-NUMBER` or as `now`, which is the
 *  position after the commit `latest`. */
function positionOf(text: string, latest: number): LogPosition {
  const inId = positionInId(text, latest);
  if (inId !== undefined) return inId;
  const [, sequence = latest, number = appendsMax - 1] = positionForm.exec(text) ?? [];
  return { sequence: Number(sequence), number: Math.min(Number(number), appendsMax - 1) };
}
