import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from "@opentelemetry/sdk-trace-base";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";

interface SpanExportOptions {
  readonly exporter: SpanExporter;
  /** The receiver in messages. */
  readonly target: string;
  /** Spans that wait for the export; further ones are lost (`OTEL_BSP_MAX_QUEUE_SIZE`). */
  readonly waitingMax: number;
  readonly clock: Clock;
  readonly log: Log;
}

type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];

/** The code of a successful export (`ExportResultCode`), which the SDK declares as an enum. */
const succeeded = 0;
/** Lost spans are logged at most once a minute. */
const reportTicks: Ticks = 60n * ticksPerSecond;

/** Lets the SDK batch and export spans, and counts those that are lost because the receiver is slow
 *  or does not accept them: the SDK reports neither their number nor each loss. */
export class SpanExport {
  readonly #options: SpanExportOptions;
  readonly #processor: BatchSpanProcessor;
  #waiting = 0;
  #exporting = 0;
  #lost = 0;
  #reported = 0;
  #reportedAt: Ticks | undefined;

  constructor(options: SpanExportOptions) {
    this.#options = options;
    const { exporter, waitingMax: maxQueueSize } = options;
    const counted: SpanExporter = {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        this.#exporting += spans.length;
        exporter.export(spans, (result) => {
          this.#ended(spans.length, result);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    };
    this.#processor = new BatchSpanProcessor(counted, { maxQueueSize });
  }

  /** Number of spans that were lost since the start. */
  get lost(): number {
    return this.#lost;
  }

  add(span: ReadableSpan): void {
    if (this.#waiting >= this.#options.waitingMax) {
      this.#lose(1, "the receiver is slower than the server");
      return;
    }
    this.#waiting += 1;
    this.#processor.onEnd(span);
  }

  /** Exports what is left. `reportLeft` counts what could not be exported in time. */
  shutdown(): Promise<void> {
    return this.#processor.shutdown();
  }

  reportLeft(): void {
    const left = this.#waiting + this.#exporting;
    this.#lost += left;
    if (this.#lost > this.#reported) this.#report("the server has stopped");
  }

  #ended(spans: number, { code, error }: ExportResult): void {
    this.#exporting -= spans;
    if ((code as number) !== succeeded) this.#lose(spans, error?.message ?? "export failed");
  }

  #lose(spans: number, reason: string): void {
    this.#lost += spans;
    const now = this.#options.clock.monotonic();
    if (this.#reportedAt !== undefined && now - this.#reportedAt < reportTicks) return;
    this.#reportedAt = now;
    this.#report(reason);
  }

  #report(reason: string): void {
    const { log, target } = this.#options;
    log.error({ target, spans: this.#lost - this.#reported, reason }, "spans were lost");
    this.#reported = this.#lost;
  }
}
