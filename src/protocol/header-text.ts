/** What a header may hold: HTTP has one byte per character, and of the control characters only the
 *  tab. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
