/**
 * An entity as it is stored, so that a scan can compare and write out single properties without
 * decoding the rest: the version, eight bytes of ETag, and then, property after property: a byte of
 * type and flags, two bytes of length and the name in UTF-8, and the value. Texts and bytes have a
 * length of four bytes in front, the other types are as long as they are. Numbers are
 * little-endian.
 *
 * Example: `num` = 5 is `02  03 00  6E 75 6D  05 00 00 00`.
 */
export const entityVersion = 2;
export const headBytes = 9;

export const typeBits = 0x07;
/** The text needs no escaping in JSON. */
export const isPlain = 0x40;
/** The text is UTF-16, because it holds half of a surrogate pair. */
export const isWide = 0x80;
