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

function namesChecksum({ headers }: WireRequest): boolean {
  const md5 = headers["x-ms-source-content-md5"];
  return (md5 ?? headers["x-ms-source-content-crc64"]) !== undefined;
}

/** The bytes come from elsewhere, but only if the target would take them. */
export async function receiveSource(
  { runtime, sources }: HttpService,
  request: WireRequest,
  call: Call,
  body: SourceBody,
): Promise<PreparedCall> {
  const refusal = await precheck(runtime, call);
  // A wrong checksum of the source outranks whatever speaks against the target (recorded).
  if (refusal !== undefined && !namesChecksum(request)) return { call, outcome: refusal };
  if (!mayHold(request, streamedBytesMax)) return serverBusy;
  const content = encryptingContent(runtime.content, clientKeyOf(call.input), runtime.random);
  const parts = { read: sources.read, content };
  const taken = await fetchSource(parts, request, body, call.version);
  return taken.ok ? ok({ ...call, ...taken.value }) : taken;
}
