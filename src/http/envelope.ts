import type { ServiceName } from "../protocol/service-name.ts";
import type { HttpService, RequestState } from "./http-service.ts";
import type { Envelope } from "./render.ts";
import type { WireRequest } from "./wire.ts";

const serverNames: Readonly<Record<ServiceName, string>> = {
  blob: "Etagere-Blob/1.0",
  queue: "Etagere-Queue/1.0",
  table: "Etagere-Table/1.0",
  file: "Etagere-File/1.0",
};

const clientRequestIdUnitsMax = 1024;

/** What the answer to a request carries, as far as the request came. */
export function envelopeOf(
  door: HttpService,
  request: WireRequest,
  progress: RequestState,
): Envelope {
  const { name, dialect } = door.service;
  const { requestId, version, operation } = progress;
  const sent = request.headers["x-ms-client-request-id"];
  const isEchoed = sent !== undefined && sent.length <= clientRequestIdUnitsMax;
  const wallNow = door.clock.wall();
  const header = (wanted: string) => request.headers[wanted];
  return {
    requestId,
    clientRequestId: isEchoed ? sent : undefined,
    version,
    server: serverNames[name],
    wallNow,
    head: request.method === "HEAD",
    dialect,
    asked: { header, target: request.target, version, operation, requestId, wallNow },
  };
}
