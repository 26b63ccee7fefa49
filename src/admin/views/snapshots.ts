import { SnapshotError, type SnapshotProblem } from "../../store/saved-states/saved-states.ts";
import { json, nothing, refuse } from "../admin-response.ts";
import { textCheck } from "../inputs.ts";
import type { Route } from "../routes.ts";
import { refusePage } from "../request.ts";

const statuses: Readonly<Partial<Record<SnapshotProblem, number>>> = {
  SnapshotNotFound: 404,
  SnapshotAlreadyExists: 409,
};

const path = "/admin/v1/snapshots";
const access = "server";

/** Routes that save and restore the complete state of all accounts, for tests that need the same
 *  data again and again (`etagere snapshot`). */
export const snapshotRoutes: readonly Route[] = [
  {
    method: "GET",
    path,
    access,
    answer: guarded(({ context }) => json({ snapshots: context.snapshots.list() })),
  },
  {
    method: "POST",
    path,
    access,
    acceptsAnyQuery: true,
    body: { name: textCheck },
    answer: guarded(async ({ context, body: { name } }) => {
      await context.snapshots.save(typeof name === "string" ? name : "");
      return nothing;
    }),
  },
  {
    method: "POST",
    path: `${path}/:snapshot/restore`,
    access,
    acceptsAnyQuery: true,
    body: {},
    answer: guarded(async ({ context }, { snapshot = "" }) => {
      await context.snapshots.restore(snapshot);
      return nothing;
    }),
  },
  {
    method: "DELETE",
    path: `${path}/:snapshot`,
    access,
    acceptsAnyQuery: true,
    answer: guarded(async ({ context }, { snapshot = "" }) => {
      await context.snapshots.delete(snapshot);
      return nothing;
    }),
  },
];

/** Wraps a route so that it rejects requests of web pages, and answers a `SnapshotError` with its
 *  code. */
function guarded(answer: Route["answer"]): Route["answer"] {
  return async (request, values) => {
    const refusal = refusePage(request);
    if (refusal !== undefined) return refusal;
    try {
      return await answer(request, values);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      return refuse(statuses[error.code] ?? 400, error.code, error.message);
    }
  };
}
