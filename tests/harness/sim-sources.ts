import type { ServiceName } from "../../src/protocol/names.ts";
import { OwnEndpoints, type Serve } from "../../src/http/source/own-endpoints.ts";
import { openSources } from "../../src/http/source/open-sources.ts";
import type { Sources } from "../../src/http/source/source-reader.ts";

/** Copy sources of a single service without network access. */
export function simSources(service: ServiceName, serve: Serve): Sources {
  const endpoints = new OwnEndpoints();
  endpoints.serves(service, serve);
  const elsewhere = () => Promise.reject(new Error("there is no network here"));
  return openSources({ service, endpoints, remote: elsewhere });
}
