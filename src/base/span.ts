/** A part of a traced request, from `begin` to `end`. Code that may be traced has a span or
 *  undefined; without tracing it costs a comparison. */
export interface Span {
  /** Begins a part of this part. */
  begin(name: string, attributes?: SpanAttributes): Span;
  set(attributes: SpanAttributes): void;
  /** `error`: why the part failed. */
  end(error?: unknown): void;
}

/** Undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Runs `work` as a part of a traced request. */
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
