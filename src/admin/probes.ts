import type { ViewContext } from "./admin-context.ts";
import { nothing, refuse, text, type AdminResponse } from "./admin-response.ts";
import type { AdminRequest } from "./request.ts";
import type { Route } from "./routes.ts";

const exposition = "text/plain; version=0.0.4; charset=utf-8";

/** Probes, metrics and the reset for tests. */
export function probeRoutes(context: ViewContext): readonly Route[] {
  return [
    { method: "GET", path: "/healthz", access: "open", answer: () => text("ok\n") },
    { method: "GET", path: "/readyz", access: "open", answer: () => answerReady(context) },
    {
      method: "GET",
      path: "/metrics",
      access: "metrics",
      answer: async () => text(await context.metrics(), 200, exposition),
    },
    {
      method: "POST",
      path: "/admin/v1/reset",
      access: "server",
      answer: (request) => answerReset(context, request),
    },
  ];
}

async function answerReady({ ready }: ViewContext): Promise<AdminResponse> {
  try {
    await ready();
    return text("ready\n");
  } catch (error) {
    return text(`${error instanceof Error ? error.message : String(error)}\n`, 503);
  }
}

async function answerReset(
  { reset }: ViewContext,
  { headers }: AdminRequest,
): Promise<AdminResponse> {
  if (reset === undefined) {
    return refuse(403, "ResetNotAllowed", "the server must be started with --enableReset");
  }
  // Only browsers send this header. A web page must not be able to delete everything.
  if (headers.origin !== undefined) return refuse(403, "NotFromAPage", "not allowed from a page");
  await reset();
  return nothing;
}
