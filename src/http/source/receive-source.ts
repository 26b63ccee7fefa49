import { ok } from "../../protocol/result.ts";
import type { SourceBody } from "../../operation/source.ts";
import { precheck, type Call } from "../../operation/execute.ts";
import { mayHold, streamedBytesMax } from "../body.ts";
import { serverBusy } from "../server-busy.ts";
import { clientKeyOf, encryptingContent } from "../client-key.ts";
import type { HttpService } from "../http-service.ts";
import type { PreparedCall } from "../prepare.ts";
import type { WireRequest } from "../wire.ts";
import { fetchSource } from "./fetch-source.ts";

function hasChecksum({ headers }: WireRequest): boolean {
  const md5 = headers["x-ms-source-content-md5"];
  return (md5 ?? headers["x-ms-source-content-crc64"]) !== undefined;
}

/** Fetches the bytes of a source body, after the checks of the target have passed. */
export async function receiveSource(
  { runtime, sources }: HttpService,
  request: WireRequest,
  call: Call,
  body: SourceBody,
): Promise<PreparedCall> {
  const rejection = await precheck(runtime, call);
  // Recorded: the fault of a wrong source checksum takes precedence over faults of the target.
  if (rejection !== undefined && !hasChecksum(request)) return { call, outcome: rejection };
  if (!mayHold(request, streamedBytesMax)) return serverBusy;
  const content = encryptingContent(runtime.content, clientKeyOf(call.input), runtime.random);
  const parts = { read: sources.read, content };
  const fetched = await fetchSource(parts, request, body, call.version);
  return fetched.ok ? ok({ ...call, ...fetched.value }) : fetched;
}
