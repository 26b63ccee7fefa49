/** Whether a header may have this value: one byte per character, and no control character except
 *  tab. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
