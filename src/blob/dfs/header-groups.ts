import type { HeaderGroup, Reply } from "../../operation/reply.ts";

/** The headers of a reply, to which a wrapping operation adds its own. */
export function headerGroups({ headers = [] }: Reply<object, string>): readonly HeaderGroup[] {
  return Array.isArray(headers) ? (headers as readonly HeaderGroup[]) : [headers as HeaderGroup];
}
