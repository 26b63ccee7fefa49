import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

/** A received span, with its attributes by name. */
export interface ReceivedSpan extends Omit<OtlpSpan, "attributes"> {
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface OtlpMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly object[] };
  readonly histogram?: { readonly dataPoints: readonly object[] };
}

/** Receives OTLP over HTTP in JSON. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: OtlpMetric[] = [];
  readonly resources: Record<string, unknown>[] = [];
  #onSpan = (span: ReceivedSpan): void => void this.spans.push(span);
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      this.#receive(request.url ?? "", Buffer.concat(chunks).toString("utf8"));
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  });

  /** `onSpan` gets the spans instead of `spans`, which would need memory for all of them. */
  static async start(onSpan?: (span: ReceivedSpan) => void): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    if (onSpan !== undefined) receiver.#onSpan = onSpan;
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(path: string, text: string): void {
    const body = JSON.parse(text) as {
      readonly resourceSpans?: readonly {
        readonly resource: { readonly attributes: readonly OtlpAttribute[] };
        readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
      }[];
      readonly resourceMetrics?: readonly {
        readonly scopeMetrics: readonly { readonly metrics: readonly OtlpMetric[] }[];
      }[];
    };
    if (path === "/v1/traces") {
      for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
        this.resources[0] ??= byName(resource.attributes);
        for (const { spans } of scopeSpans) {
          for (const span of spans) {
            this.#onSpan({ ...span, attributes: byName(span.attributes) });
          }
        }
      }
    } else if (path === "/v1/metrics") {
      for (const { scopeMetrics } of body.resourceMetrics ?? []) {
        for (const { metrics } of scopeMetrics) this.metrics.push(...metrics);
      }
    } else throw new Error(`unexpected path ${path}`);
  }
}

function byName(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
