/** The form in which names are compared, because names that differ only in case are equal. Each
 *  UTF-16 code unit is converted to upper case by itself, as NTFS does, so that the result depends
 *  on no locale and has the length of the name. */
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
