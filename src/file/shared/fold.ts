/** Names that differ only in case are equal. Each code unit is upper-cased by itself, as file
 *  systems do, so that folding depends on no locale and never changes the length. */
export function foldName(name: string): string {
  if (plainForm.test(name)) return name.toUpperCase();
  let folded = "";
  for (let at = 0; at < name.length; at += 1) {
    const unit = name.charAt(at);
    const upper = unit.toUpperCase();
    folded += upper.length === 1 ? upper : unit;
  }
  return folded;
}

// oxlint-disable-next-line no-control-regex
const plainForm = /^[\x00-\x7f]*$/;
