/** The interface through which code reports spans (the timed parts of a traced request);
 *  `server/telemetry` exports them to OpenTelemetry. */

/** A part of a traced request, from `begin` to `end`. Code that may be traced has a span or
 *  undefined; without tracing it costs a comparison. */
export interface Span {
  /** Begins a span inside this one, for one step of it. */
  begin(name: string, attributes?: SpanAttributes): Span;
  set(attributes: SpanAttributes): void;
  /** `error`: why the traced work failed; undefined after success. */
  end(error?: unknown): void;
}

/** Values that the trace shows with a span, by name. Undefined ones are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Runs `work` as the step that a span measures, and ends the span with its outcome. */
export async function inSpan<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const value = await work();
    span.end();
    return value;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
