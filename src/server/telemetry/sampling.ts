import { ROOT_CONTEXT, TraceFlags, type SpanContext } from "@opentelemetry/api";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-base";
import type { Log, Random } from "../../base/world.ts";
import { environmentVariable } from "../../host/world.ts";

/** Decides which requests are traced, as `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say.
 *  It is decided before a span exists, so that a request that is not traced costs next to nothing:
 *  `TracerProvider` of the SDK makes ids and a span for each. */
export interface Sampling {
  /** Whether a request without a valid `traceparent` is sampled. */
  readonly isRootSampled: () => boolean;
  /** Whether a request of a traced client is sampled. */
  readonly isChildSampled: (parent: SpanContext) => boolean;
}

const samplerDefault = "parentbased_always_on";
const samplerForm = /^(parentbased_)?(always_on|always_off|traceidratio)$/;

/** Values that are not valid are replaced by the defaults, as the specification of OpenTelemetry
 *  demands: every request is sampled unless its client decided otherwise. */
export function readSampling(random: Random, log: Log): Sampling {
  const name = environmentVariable("OTEL_TRACES_SAMPLER") || samplerDefault;
  const given = samplerForm.exec(name);
  if (given === null) {
    log.warn({ value: name }, `OTEL_TRACES_SAMPLER is unknown: using ${samplerDefault}`);
  }
  const [, isParentBased, kind] = given ?? samplerForm.exec(samplerDefault) ?? [];
  const share = kind === "always_on" ? 1 : kind === "always_off" ? 0 : readShare(log);
  const isRootSampled = sampleShare(share, random);
  if (isParentBased !== undefined) {
    return { isRootSampled, isChildSampled: (parent) => isSampled(parent) };
  }
  // The trace id decides, so that all servers of a trace decide alike.
  const sampler = new TraceIdRatioBasedSampler(share);
  const isChildSampled = ({ traceId }: SpanContext): boolean =>
    sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  return { isRootSampled, isChildSampled };
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

function readShare(log: Log): number {
  const text = environmentVariable("OTEL_TRACES_SAMPLER_ARG") ?? "";
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  log.warn({ value: text }, "OTEL_TRACES_SAMPLER_ARG must be 0 to 1: sampling every request");
  return 1;
}

/** Bytes of the random numbers that `sampleShare` draws. */
const drawnBytes = 6;
const drawnMax = 2 ** (8 * drawnBytes);

/** Returns a function that is true for this share of the calls, independently for each call. It
 *  draws the number of calls to skip before the next true one, so that a skipped call costs a
 *  subtraction. */
export function sampleShare(share: number, random: Random): () => boolean {
  if (share <= 0) return () => false;
  if (share >= 1) return () => true;
  // The number of failures before a success of probability `share` is distributed geometrically.
  const drawSkipped = (): number => {
    const drawn = Buffer.from(random.bytes(drawnBytes)).readUIntBE(0, drawnBytes);
    return Math.floor(Math.log((drawn + 1) / drawnMax) / Math.log1p(-share));
  };
  let skipped = drawSkipped();
  return () => {
    if (skipped > 0) {
      skipped -= 1;
      return false;
    }
    skipped = drawSkipped();
    return true;
  };
}
