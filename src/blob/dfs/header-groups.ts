import type { HeaderGroup, Reply } from "../../operation/reply.ts";

/** The header groups of a reply, to which an operation that wraps another one adds its headers. */
export function headerGroups({ headers = [] }: Reply<object, string>): readonly HeaderGroup[] {
  return Array.isArray(headers) ? (headers as readonly HeaderGroup[]) : [headers as HeaderGroup];
}
