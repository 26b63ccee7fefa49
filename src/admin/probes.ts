import type { Viewed } from "./admin-context.ts";
import { nothing, refuse, text, type AdminResponse } from "./admin-response.ts";
import type { AdminRequest } from "./request.ts";
import type { Route } from "./routes.ts";

const exposition = "text/plain; version=0.0.4; charset=utf-8";

/** For probes and tests. */
export function probeRoutes(viewed: Viewed): readonly Route[] {
  return [
    { method: "GET", path: "/healthz", access: "open", answer: () => text("ok\n") },
    { method: "GET", path: "/readyz", access: "open", answer: () => answerReady(viewed) },
    {
      method: "GET",
      path: "/metrics",
      access: "metrics",
      answer: () => text(viewed.metrics(), 200, exposition),
    },
    {
      method: "POST",
      path: "/admin/v1/reset",
      access: "server",
      answer: (request) => answerReset(viewed, request),
    },
  ];
}

async function answerReady({ ready }: Viewed): Promise<AdminResponse> {
  try {
    await ready();
    return text("ready\n");
  } catch (error) {
    return text(`${error instanceof Error ? error.message : String(error)}\n`, 503);
  }
}

async function answerReset({ reset }: Viewed, { headers }: AdminRequest): Promise<AdminResponse> {
  if (reset === undefined) {
    return refuse(403, "ResetNotAllowed", "start with --enableReset to allow this");
  }
  // Browsers send an origin: no page that happens to be open may delete everything.
  if (headers.origin !== undefined) return refuse(403, "NotFromAPage", "not from a page");
  await reset();
  return nothing;
}
