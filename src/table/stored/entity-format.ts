/**
 * The stored format of an entity. A scan can compare and copy single properties without decoding
 * the others. One byte of version and 8 bytes of ETag are followed by the properties. Each has one
 * byte of type and flags, 2 bytes of name length, the name in UTF-8, and the value. Texts and
 * binary values are preceded by a length of 4 bytes; other types have a fixed length. Numbers are
 * little-endian.
 *
 * Example: `num` = 5 is `02  03 00  6E 75 6D  05 00 00 00`.
 */
export const entityVersion = 2;
/** Length of version and ETag. */
export const headBytes = 9;

/** Bits of the first byte of a property that contain its type. */
export const typeBits = 0x07;
/** Flag: the text needs no escaping in JSON. */
export const isPlain = 0x40;
/** Flag: the text is UTF-16, because it contains a surrogate without its pair. */
export const isWide = 0x80;
