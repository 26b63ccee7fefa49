import { preflightHeaders } from "../protocol/cors.ts";
import { noBody } from "../operation/operation.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { header, text } from "../protocol/params.ts";
import { serviceOperation } from "./service-operation.ts";

/** Declares the preflight request that browsers send before a cross-origin request. It depends only
 *  on the CORS rules of the service, not on credentials or on the path. */
export function declarePreflight(service: ServiceName, name: string) {
  return serviceOperation({
    name,
    ids: ["Preflight"],
    route: { method: "OPTIONS", resource: "service" },
    since: "2013-08-15",
    params: {
      origin: header("origin", text),
      method: header("access-control-request-method", text),
      requestHeaders: header("access-control-request-headers", text),
    },
    body: noBody,
    permission: { resourceType: "sco", allowsAnonymous: true },
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "reads",
    success: {
      status: 200,
      headers: [
        "Access-Control-Allow-Origin",
        "Access-Control-Allow-Credentials",
        "Access-Control-Allow-Methods",
        "Access-Control-Allow-Headers",
        "Access-Control-Max-Age",
      ],
    },
    decide: ({ target, input }) => {
      const answer = preflightHeaders(target.properties[service]?.cors ?? [], input);
      return answer.ok ? { headers: answer.value } : answer;
    },
  });
}
