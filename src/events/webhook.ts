import { createHmac } from "node:crypto";
import { lookup as resolve, type LookupAddress } from "node:dns";
import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isListedWebhook, type WebhookDestination } from "../account/subscription.ts";
import { formatIso } from "../base/dates.ts";
import type { Clock, Random } from "../base/world.ts";
import { portOf, type OwnEndpoints } from "../http/source/own-endpoints.ts";
import {
  sourcePolicy,
  type SourcePolicy,
  type SourceRanges,
} from "../http/source/source-policy.ts";
import { sourceMarkHeader } from "../http/source/source-reader.ts";
import { newGuid } from "../operation/identifiers.ts";

/** Sends events to webhooks, URLs that get events by POST, and asks for their consent before a
 *  subscription is stored. */

/** The addresses to which the operator of the server permits events to be sent. Clients choose the
 *  URLs, so without limits the server could be made to send requests to machines that only it can
 *  reach. */
export interface WebhookRules {
  /** URLs must begin with one of these texts. */
  readonly prefixes: readonly string[];
  readonly ranges: SourceRanges;
  readonly endpoints: Pick<OwnEndpoints, "isAdmin" | "isStorage">;
  readonly clock: Clock;
}

interface WebhookResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** At most `bodyBytesMax` bytes. */
  readonly body: string;
}

/** Thrown if a webhook cannot be reached or does not respond; the delivery is tried again. */
export class WebhookUnreachable extends Error {
  override readonly name = "WebhookUnreachable";
}

/** How long a webhook may take to respond, as in Azure Event Grid. */
const responseMillisecondsMax = 30_000;
/** Most bytes of a response, whose body only the handshake uses. More end the connection. */
const bodyBytesMax = 16 * 1024;
const concurrentRequestsMax = 64;
const idleSocketMilliseconds = 30_000;
const validationOrigin = "eventgrid.azure.net";

/** The rules for addresses of webhooks: those of copy sources, with two differences. A webhook is
 *  never at a listener of this server. An address that copies must not read (loopback) is permitted
 *  if the operator listed it as an address, because a name could later resolve to another
 *  address. */
function policyOf({ ranges, endpoints }: WebhookRules, url: URL): SourcePolicy {
  const host = hostOf(url);
  const listed = isIP(host) !== 0 ? [host] : host === "localhost" ? ["127.0.0.0/8", "::1"] : [];
  const allowed = [...ranges.allowed, ...listed];
  const policy = sourcePolicy({ ...ranges, allowed }, endpoints);
  return {
    permits: (address, port) =>
      !endpoints.isStorage(address, port) && policy.permits(address, port),
  };
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

interface WebhookRequest {
  readonly method: "POST" | "OPTIONS";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends requests to one webhook, over connections that are kept open. */
export class WebhookClient {
  readonly #rules: WebhookRules;
  readonly #destination: WebhookDestination;
  readonly #url: URL;
  readonly #policy: SourcePolicy;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #lookup: LookupFunction;

  constructor(rules: WebhookRules, destination: WebhookDestination) {
    this.#rules = rules;
    this.#destination = destination;
    this.#url = new URL(destination.url);
    this.#policy = policyOf(rules, this.#url);
    const options = {
      keepAlive: true,
      maxSockets: concurrentRequestsMax,
      timeout: idleSocketMilliseconds,
    };
    const isHttps = this.#url.protocol === "https:";
    this.#agent = isHttps ? new HttpsAgent(options) : new HttpAgent(options);
    this.#lookup = lookupFor(this.#policy, portOf(this.#url));
  }

  /** Sends one event. Rejects with `WebhookUnreachable` if there is no response. */
  deliver(event: object, headers: Readonly<Record<string, string>>): Promise<WebhookResponse> {
    const isCloudEvent = this.#destination.schema === "CloudEventSchemaV1_0";
    const type = isCloudEvent ? "application/cloudevents+json" : "application/json";
    return this.send({
      method: "POST",
      headers: { ...headers, "content-type": `${type}; charset=utf-8` },
      body: JSON.stringify(isCloudEvent ? event : [event]),
    });
  }

  /** Sends a request. Redirects are not followed, because they could lead to another address. */
  send({ method, headers, body }: WebhookRequest): Promise<WebhookResponse> {
    const wrong = this.#findProblem();
    if (wrong !== undefined) return Promise.reject(new WebhookUnreachable(wrong));
    const { secret } = this.#destination;
    const bytes = Buffer.from(body);
    return new Promise((settle, refuse) => {
      const request = this.#url.protocol === "https:" ? requestHttps : requestHttp;
      const sent = request(this.#url, {
        method,
        agent: this.#agent,
        lookup: this.#lookup,
        headers: {
          ...headers,
          ...(secret !== undefined && { "x-etagere-signature": signatureOf(secret, bytes) }),
          "content-length": String(bytes.length),
          [sourceMarkHeader]: "1",
        },
      });
      const tooSlow = new WebhookUnreachable("no response within 30 s");
      const cancel = this.#rules.clock.after(responseMillisecondsMax, () => sent.destroy(tooSlow));
      sent.on("response", (response) => {
        settle(readResponse(response).finally(cancel));
      });
      sent.on("error", (error) => {
        cancel();
        const isOwn = error instanceof WebhookUnreachable;
        refuse(isOwn ? error : new WebhookUnreachable(error.message || error.name));
      });
      sent.end(bytes);
    });
  }

  /** Returns why the URL is not permitted. Called before each request: the operator may have
   *  changed the list. Node does not call `lookup` for an address, so an address is checked
   *  here. */
  #findProblem(): string | undefined {
    if (!isListedWebhook(this.#rules.prefixes, this.#url.href)) {
      return `${this.#url.origin} is not listed in --eventWebhooks`;
    }
    const host = hostOf(this.#url);
    const isBlocked = isIP(host) !== 0 && !this.#policy.permits(host, portOf(this.#url));
    return isBlocked ? blocked(host) : undefined;
  }

  close(): void {
    this.#agent.destroy();
  }
}

function blocked(host: string): string {
  return `${host} has a blocked address`;
}

type DoneWithAll = (error: Error | null, addresses: LookupAddress[]) => void;

function lookupFor(policy: SourcePolicy, port: number): LookupFunction {
  return (hostname, options, done) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, "", 0);
      const open = addresses.filter(({ address }) => policy.permits(address, port));
      const [first] = open;
      if (first === undefined) return done(new WebhookUnreachable(blocked(hostname)), "", 0);
      if (options.all === true) return (done as DoneWithAll)(null, open);
      return done(null, first.address, first.family);
    });
}

function signatureOf(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

async function readResponse(response: IncomingMessage): Promise<WebhookResponse> {
  const { statusCode: status = 0, headers } = response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > bodyBytesMax) break;
      chunks.push(chunk);
    }
  } catch {
    // The status decides; a body that ends early does not matter.
  }
  return { status, headers, body: Buffer.concat(chunks).toString("utf8") };
}

/** Carries out the handshake before a subscription is stored: the receiver must agree to get
 *  events. Returns what is wrong, or undefined.
 *  learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema and
 *  github.com/cloudevents/spec http-webhook.md */
export async function findHandshakeProblem(
  rules: WebhookRules,
  destination: WebhookDestination,
  { random, topic }: { readonly random: Random; readonly topic: string },
): Promise<string | undefined> {
  const client = new WebhookClient(rules, destination);
  try {
    if (destination.schema === "CloudEventSchemaV1_0") return await askPermission(client);
    const code = newGuid(random);
    const event = {
      id: newGuid(random),
      topic,
      subject: "",
      data: { validationCode: code },
      eventType: "Microsoft.EventGrid.SubscriptionValidationEvent",
      eventTime: formatIso(rules.clock.wall()),
      metadataVersion: "1",
      dataVersion: "2",
    };
    const headers = { "aeg-event-type": "SubscriptionValidation" };
    const { status, body } = await client.deliver(event, headers);
    if (status === 200 && validationResponse(body) === code) return undefined;
    return `the webhook answered the validation event with status ${status} and without its code`;
  } catch (error) {
    if (!(error instanceof WebhookUnreachable)) throw error;
    return `the webhook cannot be reached: ${error.message}`;
  } finally {
    client.close();
  }
}

async function askPermission(client: WebhookClient): Promise<string | undefined> {
  const headers = { "webhook-request-origin": validationOrigin };
  const response = await client.send({ method: "OPTIONS", headers, body: "" });
  const allowed = response.headers["webhook-allowed-origin"];
  const isAllowed = allowed === "*" || allowed === validationOrigin;
  if (response.status >= 200 && response.status < 300 && isAllowed) return undefined;
  const what = `status ${response.status}, WebHook-Allowed-Origin is absent or another`;
  return `the webhook does not allow events: ${what}`;
}

function validationResponse(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return (parsed as { readonly validationResponse?: unknown } | null)?.validationResponse;
  } catch {
    return undefined;
  }
}
